import { setTimeout as sleep } from 'node:timers/promises'
import type { CloudInfra, InfraStatus, JobStatus, Run } from '@scanfarm/contracts'
import type { Terminal } from '../terminal.ts'
import { retryUnreachable, type Api } from './api.ts'
import { isOver, machinesLine, progressLine, showLine } from './progress.ts'

const LEAST_MS = 250
const MOST_MS = 10_000
/** If no run of the job is running for this long, the reason is shown. */
const QUIET_MS = 3_000
/** The status of a big job is expensive: requests take at most a tenth of the time. */
const PAUSE_FACTOR = 9

/** Waits until every run of the job has ended. Shows its progress and its machines on the error stream. */
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
      const job = await retryUnreachable(() => api.get<JobStatus>(`/jobs/${encodeURIComponent(jobId)}`))
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

/** Why the newest waiting run waits. */
const reasonOf = async (api: Api, jobId: string): Promise<string> => {
  const query = { job_id: jobId, status: 'queued', limit: 1 }
  const { data } = await retryUnreachable(() => api.get<{ data: readonly Run[] }>('/runs', query))
  const reason = data[0]?.waiting_reason ?? ''
  return reason === '' ? '' : `  ${reason}`
}

const machinesOf = async (api: Api, infraId: string): Promise<string> => {
  const { data } = await retryUnreachable(() => api.get<{ data: CloudInfra }>(infraPath(infraId)))
  return machinesLine(data)
}

const POLL_MS = 1_000

export const infraPath = (id: string): string => `/cloud/instances/${encodeURIComponent(id)}`

/** Waits until an infrastructure has one of these statuses. Shows its machines on the error stream. */
export const waitForInfra = async (
  terminal: Terminal,
  api: Api,
  id: string,
  ends: readonly InfraStatus[],
): Promise<CloudInfra> => {
  const line = showLine(terminal)
  try {
    for (;;) {
      const { data } = await retryUnreachable(() => api.get<{ data: CloudInfra }>(infraPath(id)))
      line.update(machinesLine(data))
      if (ends.includes(data.status)) return data
      await sleep(POLL_MS)
    }
  } finally {
    line.end()
  }
}
