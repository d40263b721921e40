import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lockMachine } from './mutex.ts'
import { identityOf, isAlive } from './process-identity.ts'

/** How one kind of server is found, started and stopped. Called under the folder's lock, so never twice at once. */
export interface ServerKind {
  /** Folder that holds all of its state. */
  readonly folder: string
  /** URL of the server of this folder, if one runs and answers. */
  running(): Promise<string | undefined>
  start(): Promise<string>
  stop(): Promise<void>
}

export interface SharedServer extends AsyncDisposable {
  readonly url: string
  /** True when it was running already: another program uses it, or one that was killed left it. */
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
 * The server of a folder, shared by all programs of the machine that ask for it: the first one starts it, or adopts
 * what a killed program left; the last one to dispose stops it. Programs that died without a word do not count.
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
