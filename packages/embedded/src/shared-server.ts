import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lockMachine } from '@scanfarm/platform'
import { identityOf, isAlive } from './process-identity.ts'

/** How one kind of server is found, started and stopped. The caller holds the lock of the folder. */
export interface ServerKind {
  /** The folder with the state of the server. */
  readonly folder: string
  /** The URL of the running server of this folder, if there is one. */
  running(): Promise<string | undefined>
  start(): Promise<string>
  stop(): Promise<void>
}

export interface SharedServer extends AsyncDisposable {
  readonly url: string
  /** True if the server was already running: another program uses it, or a killed program left it running. */
  readonly adopted: boolean
}

const LOCK_MS = 120_000

const liveUsers = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder)
  const dead = names.filter((name) => !isAlive(identityPart(name)))
  await Promise.all(dead.map((name) => rm(join(folder, name), { force: true })))
  return names.filter((name) => !dead.includes(name))
}

const identityPart = (name: string): string => name.slice(0, name.lastIndexOf('.'))

const leave = async (kind: ServerKind, users: string, name: string): Promise<void> => {
  await using _lock = await lockMachine(kind.folder, LOCK_MS)
  await rm(join(users, name), { force: true })
  if ((await liveUsers(users)).length === 0) await kind.stop()
}

/**
 * The server of a folder, shared by all programs of the machine. The first program starts it, or adopts one that a killed
 * program left running. The last program that disposes it stops it; programs that were killed do not count.
 */
export const shareServer = async (kind: ServerKind): Promise<SharedServer> => {
  const users = join(kind.folder, 'users')
  await mkdir(users, { recursive: true, mode: 0o700 })
  const name = `${identityOf(process.pid)}.${randomBytes(4).toString('hex')}`
  await using _lock = await lockMachine(kind.folder, LOCK_MS)
  const found = await kind.running()
  const url = found ?? (await kind.start())
  await writeFile(join(users, name), '', { mode: 0o600 })
  return { url, adopted: found !== undefined, [Symbol.asyncDispose]: () => leave(kind, users, name) }
}
