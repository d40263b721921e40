import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { makeKeyPair } from '../../src/keys.ts'
import {
  CloudError,
  type CloudProvider,
  type Machine,
  type MachineRequest,
  type MachineState,
} from '../../src/provider.ts'
import { startMachine, type CloudConfig, type TestMachine } from './test-machine.ts'

interface Kept {
  readonly id: string
  readonly request: MachineRequest
  readonly machine: TestMachine
  state: MachineState
  message: string
  hidden: boolean
}

/** What goes wrong. Each may be changed at any time. */
export interface Faults {
  /** Called with the number of the create call, from 1; what it throws is the answer. Nothing is made then. */
  beforeCreate?(request: MachineRequest, call: number): void
  /** The machine is there; what it throws is the answer. */
  afterCreate?(request: MachineRequest, call: number): void | Promise<void>
  /** What the machine is told instead. */
  beforeBoot?(config: CloudConfig): CloudConfig
  beforeList?(): void
  /** Whatever it throws is the answer, and the machine stays. */
  beforeDestroy?(name: string, call: number): void
  /** Machines that are made meanwhile show up only with `showAll`. */
  hideNew?: boolean
}

/** A cloud on this machine: real sshd servers, made as user data says, and faults that can be switched on. */
export class TestCloud implements CloudProvider {
  readonly name = 'local'
  readonly defaults = { region: 'here', type: 'small', sshUser: 'scanfarm-test' }
  faults: Faults = {}
  /** Names, in the order of the calls. */
  readonly created: string[] = []
  destroyCalls = 0
  createCalls = 0
  /** Of nobody's machine. */
  readonly strangeHostKey = makeKeyPair('strange').privateKey
  /** Every machine has files of its own below it. */
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
    const machine = await startMachine(this.faults.beforeBoot?.(config) ?? config, this.ownFolder)
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

  /** The account stays: several providers may stand for it. `close` ends it. */
  async [Symbol.asyncDispose](): Promise<void> {}

  /** Names of all machines that are there, whoever can see them. */
  get names(): string[] {
    return [...this.#machines.values()].map(({ request }) => request.name).sort()
  }

  showAll(): void {
    for (const kept of this.#machines.values()) kept.hidden = false
  }

  /** It is gone without a word. */
  async vanish(name: string): Promise<void> {
    for (const kept of this.#named(name)) await this.#remove(kept)
  }

  /** The provider wants it back; what runs on it still does. */
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

export async function openTestCloud(): Promise<TestCloud> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-cloud-'))
  const ownFolder = join(folder, 'work')
  await mkdir(ownFolder)
  return new TestCloud(folder, ownFolder)
}

export const unavailable = (retryAfterMs?: number): CloudError =>
  new CloudError('unavailable', 'the test cloud is overloaded', { retryAfterMs })
