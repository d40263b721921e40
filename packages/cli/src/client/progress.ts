import type { JobStatus } from '@scanfarm/contracts'
import type { Terminal } from '../terminal.ts'

const WIDTH = 30
const CLEAR_LINE = '\r\x1b[K'

const ended = ({ completed, failed, cancelled }: JobStatus): number => completed + failed + cancelled

export const isOver = (job: JobStatus): boolean => ended(job) === job.total_runs

const words = (job: JobStatus): string =>
  (['completed', 'failed', 'cancelled', 'running', 'pending'] as const)
    .filter((name) => job[name] > 0)
    .map((name) => `${job[name]} ${name}`)
    .join(', ')

export const progressLine = (job: JobStatus): string => {
  const share = job.total_runs === 0 ? 1 : ended(job) / job.total_runs
  const full = Math.floor(share * WIDTH)
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${ended(job)}/${job.total_runs}  ${words(job)}`
}

/** A bar that is drawn over itself on a terminal; elsewhere only what changed is told, a line each. */
export const showProgress = ({ err }: Terminal): { update(job: JobStatus): void; end(): void } => {
  let last = ''
  return {
    update: (job) => {
      const line = progressLine(job)
      if (line === last) return
      last = line
      err.write(err.isTTY ? `${CLEAR_LINE}${line}` : `${line}\n`)
    },
    end: () => void (err.isTTY && last !== '' && err.write('\n')),
  }
}
