import type { CloudInfra, JobStatus } from '@scanfarm/contracts'
import type { Terminal } from '../terminal.ts'
import { plain } from './table.ts'

const CLEAR_LINE = '\r\x1b[K'

interface LiveLine {
  update(text: string): void
  end(): void
}

/** A line on the error stream. A terminal shows it in place; elsewhere each change is printed as a new line. */
export const showLine = ({ err }: Terminal): LiveLine => {
  let last = ''
  return {
    update(text) {
      const line =
        err.isTTY && err.columns !== undefined ? plain(text).slice(0, err.columns - 1) : plain(text)
      if (line === last) return
      last = line
      err.write(err.isTTY ? `${CLEAR_LINE}${line}` : `${line}\n`)
    },
    end: () => void (err.isTTY && last !== '' && err.write('\n')),
  }
}

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

const ORDER = ['requested', 'booting', 'ready', 'destroying', 'destroyed', 'failed'] as const

/** The machines of an infrastructure by status, in one line. */
export const machinesLine = ({
  status,
  message,
  details,
}: Pick<CloudInfra, 'status' | 'message' | 'details'>) => {
  const counts = ORDER.flatMap((word) => {
    const count = details.filter((machine) => machine.status === word).length
    return count === 0 ? [] : [`${count} ${word}`]
  })
  const machines = details.length === 1 ? 'machine' : 'machines'
  return `${details.length} ${machines} ${status}: ${counts.join(', ')}${message === '' ? '' : ` (${message})`}`
}
