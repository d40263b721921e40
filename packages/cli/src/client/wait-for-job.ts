import { setTimeout as sleep } from 'node:timers/promises'
import type { CloudInfra, JobStatus, Run } from '@scanfarm/contracts'
import type { Terminal } from '../terminal.ts'
import type { Api } from './api.ts'
import { showLine } from './live-line.ts'
import { machinesLine } from './machines-line.ts'
import { patiently } from './patiently.ts'
import { isOver, progressLine } from './progress.ts'
import { infraPath } from './wait-for-infra.ts'

const LEAST_MS = 250
const MOST_MS = 10_000
/** Runs that wait this long without any of them running have a reason that is worth showing. */
const QUIET_MS = 3_000
/** A big job's status is big: asking takes a tenth of the time at most. */
const PAUSE_FACTOR = 9

/** Waits until every run of the job has ended, with its progress, and that of its machines, on the error stream. */
export const waitForJob = async (
  terminal: Terminal,
  api: Api,
  jobId: string,
  infraId?: string,
): Promise<JobStatus> => {
  const line = showLine(terminal)
  let quietSince = performance.now()
  try {
    for (;;) {
      const began = performance.now()
      const job = await patiently(() => api.get<JobStatus>(`/jobs/${encodeURIComponent(jobId)}`))
      const machines = infraId === undefined || isOver(job) ? '' : `  ${await machinesOf(api, infraId)}`
      if (job.running > 0 || job.pending === 0) quietSince = began
      const waits = machines === '' && began - quietSince > QUIET_MS ? await reasonOf(api, jobId) : ''
      line.update(`${progressLine(job)}${machines}${waits}`)
      if (isOver(job)) return job
      const took = performance.now() - began
      await sleep(Math.min(Math.max(LEAST_MS, took * PAUSE_FACTOR), MOST_MS))
    }
  } finally {
    line.end()
  }
}

/** Why the newest of the waiting runs waits. */
const reasonOf = async (api: Api, jobId: string): Promise<string> => {
  const query = { job_id: jobId, status: 'queued', limit: 1 }
  const { data } = await patiently(() => api.get<{ data: readonly Run[] }>('/runs', query))
  const reason = data[0]?.waiting_reason ?? ''
  return reason === '' ? '' : `  ${reason}`
}

const machinesOf = async (api: Api, infraId: string): Promise<string> => {
  const { data } = await patiently(() => api.get<{ data: CloudInfra }>(infraPath(infraId)))
  return machinesLine(data)
}
