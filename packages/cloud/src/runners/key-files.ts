import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { RunMachine } from '@scanfarm/store'

/** The files that an ssh client needs for one machine. */
export interface LeasedKeyFiles {
  readonly keyFile: string
  readonly knownHosts: string
  /** Deletes the files with the last run of the infrastructure in this process. */
  release(): Promise<void>
}

const SSH_PORT = 22

/**
 * Keys of machines on disk while runs of this process use them, readable for this user only. The paths are the same for all
 * runs of a machine, so that they share connections.
 */
export class KeyFiles implements AsyncDisposable {
  readonly #base: string
  readonly #holders = new Map<string, number>()
  #folder: string | undefined
  /** Changes are serialised: a folder must not be deleted while another run writes into it. */
  #last: Promise<unknown> = Promise.resolve()

  /** Processes may share `base`. Folders of dead processes of this host are removed. */
  constructor(base: string) {
    this.#base = base
  }

  acquire(machine: RunMachine): Promise<LeasedKeyFiles> {
    return this.#serialised(async () => {
      const folder = join(await this.#open(), machine.infraId)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const keyFile = join(folder, 'key')
      const knownHosts = join(folder, `known_hosts-${machine.instanceNo}`)
      await writeAtomically(keyFile, machine.privateKey)
      await writeAtomically(knownHosts, knownHostsLine(machine))
      this.#holders.set(folder, (this.#holders.get(folder) ?? 0) + 1)
      return { keyFile, knownHosts, release: () => this.#release(folder) }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#serialised(async () => {
      if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true })
    })
  }

  #release(folder: string): Promise<void> {
    return this.#serialised(async () => {
      const left = (this.#holders.get(folder) ?? 1) - 1
      if (left > 0) return void this.#holders.set(folder, left)
      this.#holders.delete(folder)
      await rm(folder, { recursive: true, force: true })
    })
  }

  async #open(): Promise<string> {
    if (this.#folder !== undefined) return this.#folder
    await mkdir(this.#base, { recursive: true, mode: 0o700 })
    await removeStaleFolders(this.#base)
    return (this.#folder = await mkdtemp(join(this.#base, `${ownPrefix()}${process.pid}-`)))
  }

  #serialised<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}

/** Readers see the old file or the new one. */
async function writeAtomically(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

const ownPrefix = (): string => `keys-${hostname()}-`

const knownHostsLine = ({ address, port, hostKey }: RunMachine): string =>
  `${port === SSH_PORT ? address : `[${address}]:${port}`} ${hostKey}\n`

async function removeStaleFolders(base: string): Promise<void> {
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
