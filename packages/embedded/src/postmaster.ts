import { readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { identityOf, signalTo } from './process-identity.ts'
import { poll } from './poll.ts'

/** The entries of `postmaster.pid` of a running server. */
export interface Postmaster {
  readonly pid: number
  readonly identity: string
  readonly port: number
  readonly ready: boolean
  /** It accepts no connection any more, but waits for those that are open. */
  readonly stopping: boolean
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

/** The working directory of a server is its cluster: a later process with the same pid has another one. */
const worksIn = async (pid: number, cluster: string): Promise<boolean> => {
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === cluster
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') return false
    // It may be the server: its pid file must stay.
    throw new Error(
      `${pidFile(cluster)} names process ${pid}, which this program may not inspect: run it as the user of the process or with the capability SYS_PTRACE, or set DATABASE_URL`,
      { cause: error },
    )
  }
}

/** The server of this cluster, whichever program started it. */
export const findPostmaster = async (cluster: string): Promise<Postmaster | undefined> => {
  const lines = await readLines(cluster)
  const pid = Number(lines[PID_LINE])
  const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : undefined
  if (identity === undefined || !(await worksIn(pid, cluster))) return undefined
  const status = lines[STATUS_LINE]?.trim()
  const port = Number(lines[PORT_LINE])
  return { pid, identity, port, ready: status === 'ready', stopping: status === 'stopping' }
}

/**
 * Postgres refuses to start if the pid in an old `postmaster.pid` belongs to any process of this user. After a crash this
 * is common in containers, which have few pids. Call this only if `findPostmaster` found nothing.
 */
export const removeStalePidFile = (cluster: string): Promise<void> => rm(pidFile(cluster), { force: true })

const gone = (identity: string, limitMs: number): Promise<true | undefined> =>
  poll(() => (identityOf(Number.parseInt(identity, 10)) === identity ? undefined : true), limitMs)

/** Stops the server and aborts open transactions. A server that does not stop in time is killed and recovers at its next start. */
export const stopPostmaster = async ({ pid, identity }: Postmaster): Promise<void> => {
  signalTo(pid, 'SIGINT')
  if (await gone(identity, STOP_MS)) return
  signalTo(pid, 'SIGQUIT')
  if (!(await gone(identity, ABORT_MS))) throw new Error(`Postgres (process ${pid}) does not stop`)
}
