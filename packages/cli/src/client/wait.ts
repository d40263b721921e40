import { setTimeout as sleep } from 'node:timers/promises'
import type { CloudInfra, InfraStatus, JobStatus } from '@scanfarm/contracts'
import type { Terminal } from '../terminal.ts'
import { PATIENT, type Api } from './api.ts'
import { etaText } from './eta.ts'
import { isOver, machinesLine, progressLine, showLine } from './progress.ts'

/** If no run of the job is running for this long, the reason is shown. */
const QUIET_MS = 3_000

/** Waits until every run of the job has ended. Shows its progress and its machines on the error stream. */
export const waitForJob = async (
  terminal: Terminal,
  api: Api,
  jobId: string,
  infraId?: string,
): Promise<JobStatus> => {
  const line = showLine(terminal)
  let quietSince = performance.now()
  const onProgress = async (job: JobStatus): Promise<void> => {
    const now = performance.now()
    const machines = infraId === undefined || isOver(job) ? '' : `  ${await machinesOf(api, infraId)}`
    if (job.running > 0 || job.pending === 0) quietSince = now
    const waits = machines === '' && now - quietSince > QUIET_MS ? await reasonOf(api, jobId) : ''
    // Elsewhere each change is a line, and the estimate changes all the time.
    const eta = terminal.err.isTTY && !isOver(job) ? await etaOf(api, jobId) : ''
    line.update(`${progressLine(job)}${eta}${machines}${waits}`)
  }
  try {
    return await api.with((client) =>
      client.waitForJob(jobId, { onProgress, refreshMs: QUIET_MS, retry: PATIENT }),
    )
  } finally {
    line.end()
  }
}

/** A server of an earlier version has no estimate. */
const etaOf = async (api: Api, jobId: string): Promise<string> => {
  const params = { path: { job_id: jobId } }
  const progress = await api
    .call(({ GET }) => GET('/jobs/{job_id}/progress', { params }))
    .catch(() => undefined)
  return progress === undefined ? '' : etaText(progress)
}

/** Why the newest waiting run waits. */
const reasonOf = async (api: Api, jobId: string): Promise<string> => {
  const query = { job_id: jobId, status: 'queued', limit: 1 } as const
  const { data } = await api.call(({ GET }) => GET('/runs', { params: { query }, retry: PATIENT }))
  const reason = data[0]?.waiting_reason ?? ''
  return reason === '' ? '' : `  ${reason}`
}

const machinesOf = async (api: Api, infraId: string): Promise<string> => {
  return machinesLine(await readInfra(api, infraId))
}

const POLL_MS = 1_000

const readInfra = async (api: Api, id: string): Promise<CloudInfra> => {
  const params = { path: { infra_id: id } }
  const { data } = await api.call(({ GET }) => GET('/cloud/instances/{infra_id}', { params, retry: PATIENT }))
  return data
}

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
      const infra = await readInfra(api, id)
      line.update(machinesLine(infra))
      if (ends.includes(infra.status)) return infra
      await sleep(POLL_MS)
    }
  } finally {
    line.end()
  }
}
