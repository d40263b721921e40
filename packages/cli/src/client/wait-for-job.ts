import { setTimeout as sleep } from 'node:timers/promises'
import type { JobStatus } from '@scanfarm/contracts'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import type { Api } from './api.ts'
import { isOver, showProgress } from './progress.ts'

const LEAST_MS = 250
const MOST_MS = 10_000
/** A big job's status is big: asking takes a tenth of the time at most. */
const PAUSE_FACTOR = 9
/** A server that restarts is away for a while; a job does not end by that. */
const PATIENCE_MS = 120_000

const askPatiently = async (api: Api, jobId: string): Promise<JobStatus> => {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await api.get<JobStatus>(`/jobs/${encodeURIComponent(jobId)}`)
    } catch (error) {
      const away = error instanceof CliError && error.exitCode === EXIT.unreachable
      if (!away || performance.now() > until) throw error
      await sleep(LEAST_MS * 4)
    }
  }
}

/** Waits until every run of the job has ended, with a progress bar on the terminal's error stream. */
export const waitForJob = async (terminal: Terminal, api: Api, jobId: string): Promise<JobStatus> => {
  const progress = showProgress(terminal)
  try {
    for (;;) {
      const began = performance.now()
      const job = await askPatiently(api, jobId)
      progress.update(job)
      if (isOver(job)) return job
      const took = performance.now() - began
      await sleep(Math.min(Math.max(LEAST_MS, took * PAUSE_FACTOR), MOST_MS))
    }
  } finally {
    progress.end()
  }
}
