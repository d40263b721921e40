import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { RunPlace } from '@scanfarm/store'

/** Paths of what an ssh client needs for one machine. */
export interface HeldFiles {
  readonly keyFile: string
  readonly knownHosts: string
  /** The files go with the last run of the infrastructure here. */
  release(): Promise<void>
}

const SSH_PORT = 22

/**
 * Keys of machines on disk, readable for this user alone, for as long as runs of this process use them. Equal machines get
 * equal paths, so that connections can be shared.
 */
export class KeyFiles implements AsyncDisposable {
  readonly #base: string
  readonly #holders = new Map<string, number>()
  #folder: string | undefined
  /** One change at a time: a folder must not go while another run writes into it. */
  #last: Promise<unknown> = Promise.resolve()

  /** `base`: may be shared by processes; what dead ones of this machine have left there is removed. */
  constructor(base: string) {
    this.#base = base
  }

  hold(place: RunPlace): Promise<HeldFiles> {
    return this.#inTurn(async () => {
      const folder = join(await this.#open(), place.infraId)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const keyFile = join(folder, 'key')
      const knownHosts = join(folder, `known_hosts-${place.instanceNo}`)
      await writeWhole(keyFile, place.privateKey)
      await writeWhole(knownHosts, knownHostsLine(place))
      this.#holders.set(folder, (this.#holders.get(folder) ?? 0) + 1)
      return { keyFile, knownHosts, release: () => this.#release(folder) }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true })
    })
  }

  #release(folder: string): Promise<void> {
    return this.#inTurn(async () => {
      const left = (this.#holders.get(folder) ?? 1) - 1
      if (left > 0) return void this.#holders.set(folder, left)
      this.#holders.delete(folder)
      await rm(folder, { recursive: true, force: true })
    })
  }

  async #open(): Promise<string> {
    if (this.#folder !== undefined) return this.#folder
    await mkdir(this.#base, { recursive: true, mode: 0o700 })
    await removeOfTheDead(this.#base)
    return (this.#folder = await mkdtemp(join(this.#base, `${ownPrefix()}${process.pid}-`)))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}

/** Another run may be reading it: it sees the old file or the new one. */
async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

const ownPrefix = (): string => `keys-${hostname()}-`

const knownHostsLine = ({ address, port, hostKey }: RunPlace): string =>
  `${port === SSH_PORT ? address : `[${address}]:${port}`} ${hostKey}\n`

async function removeOfTheDead(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    if (!name.startsWith(ownPrefix())) continue
    const pid = Number(name.slice(ownPrefix().length).split('-')[0])
    if (pid !== process.pid && !isAlive(pid)) await rm(join(base, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return Error.isError(error) && 'code' in error && error.code === 'EPERM'
  }
}
