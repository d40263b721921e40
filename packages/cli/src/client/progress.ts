import type { JobStatus } from '@scanfarm/contracts'

const WIDTH = 30

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
