import { readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { identityOf, signalTo } from './process-identity.ts'
import { poll } from './poll.ts'

/** What a running server says of itself in `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number
  readonly identity: string
  readonly port: number
  readonly ready: boolean
}

const PID_LINE = 0
const PORT_LINE = 3
const STATUS_LINE = 7
const STOP_MS = 30_000
const ABORT_MS = 10_000

const pidFile = (cluster: string): string => join(cluster, 'postmaster.pid')

const readLines = async (cluster: string): Promise<string[]> => {
  try {
    return (await readFile(pidFile(cluster), 'utf8')).split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** A server works inside its cluster, which tells it from a later process with the same pid. */
const worksIn = async (pid: number, cluster: string): Promise<boolean> => {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  return folder === cluster
}

/** The server that runs on this cluster, whoever started it. */
export const findPostmaster = async (cluster: string): Promise<Postmaster | undefined> => {
  const lines = await readLines(cluster)
  const pid = Number(lines[PID_LINE])
  const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : undefined
  if (identity === undefined || !(await worksIn(pid, cluster))) return undefined
  return { pid, identity, port: Number(lines[PORT_LINE]), ready: lines[STATUS_LINE]?.trim() === 'ready' }
}

/**
 * Postgres refuses to start when the pid of an old `postmaster.pid` belongs to any process of this user, which in a
 * container with its few pids is usual after a crash. Call only when `findPostmaster` found nothing.
 */
export const removeStalePidFile = (cluster: string): Promise<void> => rm(pidFile(cluster), { force: true })

const gone = (identity: string, limitMs: number): Promise<true | undefined> =>
  poll(() => (identityOf(Number.parseInt(identity, 10)) === identity ? undefined : true), limitMs)

/** Ends open transactions and stops; a server that does not obey is aborted and recovers at its next start. */
export const stopPostmaster = async ({ pid, identity }: Postmaster): Promise<void> => {
  signalTo(pid, 'SIGINT')
  if (await gone(identity, STOP_MS)) return
  signalTo(pid, 'SIGQUIT')
  if (!(await gone(identity, ABORT_MS))) throw new Error(`Postgres (process ${pid}) does not stop`)
}
