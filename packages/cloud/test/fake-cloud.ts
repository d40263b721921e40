import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createKeyPair } from '../src/machine/ssh-keys.ts'
import type { CloudProvider, Machine, MachineRequest, MachineState } from '../src/provider.ts'
import { CloudError } from '../src/provider.ts'
import { startFakeMachine, type CloudConfig, type FakeMachine } from './fake-machine.ts'

interface Kept {
  readonly id: string
  readonly request: MachineRequest
  readonly machine: FakeMachine
  state: MachineState
  message: string
  hidden: boolean
}

/** Injected faults, which may be changed at any time. */
export interface Faults {
  /** Gets the number of the create call, starting at 1. What it throws is the response, and nothing is created. */
  beforeCreate?(request: MachineRequest, call: number): void
  /** What it throws is the response, but the machine was created. */
  afterCreate?(request: MachineRequest, call: number): void | Promise<void>
  /** Changes the user data of a machine. */
  beforeBoot?(config: CloudConfig): CloudConfig
  beforeList?(): void
  /** What it throws is the response, and the machine is not destroyed. */
  beforeDestroy?(name: string, call: number): void
  /** New machines are not listed until `showAll`. */
  hideNew?: boolean
}

/** A cloud of real sshd servers on this host, set up from their user data, with injected faults. */
export class FakeCloud implements CloudProvider {
  readonly name = 'local'
  readonly defaults = { region: 'here', type: 'small', sshUser: 'scanfarm-test' }
  faults: Faults = {}
  /** Names in the order of the create calls. */
  readonly created: string[] = []
  destroyCalls = 0
  createCalls = 0
  /** A host key that belongs to no machine. */
  readonly strangeHostKey = createKeyPair('strange').privateKey
  /** Each machine has its own files in this folder. */
  readonly ownFolder: string
  readonly #folder: string
  readonly #machines = new Map<string, Kept>()

  constructor(folder: string, ownFolder: string) {
    this.#folder = folder
    this.ownFolder = ownFolder
  }

  async check(): Promise<void> {}

  async create(request: MachineRequest): Promise<Machine> {
    this.createCalls += 1
    const call = this.createCalls
    this.faults.beforeCreate?.(request, call)
    const id = `m-${call}`
    const hidden = this.faults.hideNew === true
    const config: CloudConfig = parse(request.userData)
    const machine = await startFakeMachine(this.faults.beforeBoot?.(config) ?? config, this.ownFolder)
    const kept: Kept = { id, request, machine, state: 'running', message: '', hidden }
    this.#machines.set(id, kept)
    this.created.push(request.name)
    await this.faults.afterCreate?.(request, call)
    return shown(kept)
  }

  async describe(id: string): Promise<Machine | undefined> {
    const kept = this.#machines.get(id)
    return kept === undefined || kept.hidden ? undefined : shown(kept)
  }

  async destroy(id: string): Promise<void> {
    this.destroyCalls += 1
    const kept = this.#machines.get(id)
    if (kept === undefined) return
    this.faults.beforeDestroy?.(kept.request.name, this.destroyCalls)
    await this.#remove(kept)
  }

  async list(farm: string): Promise<Machine[]> {
    this.faults.beforeList?.()
    const all = [...this.#machines.values()].filter(
      ({ request, hidden }) => !hidden && request.labels.farm === farm,
    )
    return all.map(shown)
  }

  async price(): Promise<number | undefined> {
    return 0.01
  }

  /** Keeps the account, which several providers may share. `close` ends it. */
  async [Symbol.asyncDispose](): Promise<void> {}

  /** Names of all existing machines, listed or not. */
  get names(): string[] {
    return [...this.#machines.values()].map(({ request }) => request.name).sort()
  }

  showAll(): void {
    for (const kept of this.#machines.values()) kept.hidden = false
  }

  /** Removes the machine. */
  async vanish(name: string): Promise<void> {
    for (const kept of this.#named(name)) await this.#remove(kept)
  }

  /** Reports the machine as stopping; its processes continue. */
  interrupt(name: string, message: string): void {
    for (const kept of this.#named(name)) Object.assign(kept, { state: 'stopping', message })
  }

  async close(): Promise<void> {
    for (const kept of this.#machines.values()) await this.#remove(kept)
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #remove(kept: Kept): Promise<void> {
    this.#machines.delete(kept.id)
    await kept.machine.kill()
  }

  #named(name: string): Kept[] {
    return [...this.#machines.values()].filter(({ request }) => request.name === name)
  }
}

const shown = ({ id, request, machine, state, message }: Kept): Machine => ({
  id,
  name: request.name,
  state,
  address: '127.0.0.1',
  port: machine.port,
  labels: request.labels,
  message,
})

export async function openFakeCloud(): Promise<FakeCloud> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-cloud-'))
  const ownFolder = join(folder, 'work')
  await mkdir(ownFolder)
  return new FakeCloud(folder, ownFolder)
}

export const unavailable = (retryAfterMs?: number): CloudError =>
  new CloudError('unavailable', 'the test cloud is overloaded', { retryAfterMs })
