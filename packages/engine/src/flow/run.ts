import { randomUUID } from 'node:crypto'
import type { Runner, RunnerSpec, Owner } from '@scanfarm/contracts'
import { messageOf } from '@scanfarm/language'
import type { BadEnd } from '../step/step-end.ts'
import { Engine } from '../engine.ts'
import { EXECUTE_LIMITS, type ExecuteInput, type ExecuteLimits } from '../input.ts'
import { resolveName } from '../target/resolve-name.ts'
import { SharedFiles } from '../runner/shared-files.ts'
import { Mask } from '../secrets/mask.ts'
import { maskedRecorder, maskedServices } from '../secrets/masked.ts'
import type { Ports } from '@scanfarm/functions'
import { Tally } from './tally.ts'
import { Turns } from '../runner/turns.ts'

const realPorts: Ports = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  random: Math.random,
  uuid: randomUUID,
  resolve: resolveName,
}

const oneByOne = (rate = 0): string =>
  `the run may send ${rate} a second, so items of its loops run one after the other; put commands that wait for each other into branches, parallel_commands or parallel_steps`

/** The state of one run. */
export class Run implements AsyncDisposable {
  readonly engine: Engine
  readonly ports: Ports
  readonly limits: ExecuteLimits
  readonly killed = new Set<number>()
  readonly files: SharedFiles
  /** Variables that `os_setenv` added to the environment of commands. */
  readonly env: Record<string, string> = {}
  readonly mask: Mask
  readonly tally: Tally
  /** Where its rate is limited. */
  readonly turns: Turns | undefined
  /** Steps that count and that an earlier attempt has done. */
  stepsTakenOver = 0
  readonly #ownEngine: boolean
  readonly #runners = new Map<string, Promise<Runner>>()
  readonly #pids: number[] = []
  readonly #keys = new Map<string, number>()
  #seq = 0
  #input: ExecuteInput
  #opening: Promise<void> | undefined
  #directoryError = ''

  constructor(input: ExecuteInput) {
    this.mask = new Mask(input.secrets ?? [])
    this.#input = {
      ...input,
      recorder: maskedRecorder(input.recorder, this.mask),
      services: maskedServices(input.services ?? {}, this.mask),
    }
    this.tally = new Tally(
      (tally) => this.input.recorder.tally(tally),
      (text, max) => this.recordable(text, max),
    )
    const { rate } = input
    const onWait = (): void => input.recorder.log('info', oneByOne(rate))
    this.turns = rate === undefined ? undefined : new Turns(rate, onWait)
    this.#ownEngine = input.engine === undefined
    this.files = new SharedFiles(input.folders.output, input.signal)
    this.engine = input.engine ?? new Engine()
    this.ports = { ...realPorts, ...input.ports }
    this.limits = { ...EXECUTE_LIMITS, ...input.limits }
  }

  /** Its `owner` is known once the working directory is open. */
  get input(): ExecuteInput {
    return this.#input
  }

  get signal(): AbortSignal {
    return this.input.signal
  }

  /** How an aborted run ends its current step: failed on timeout, cancelled otherwise. */
  interruption(): BadEnd {
    if (!this.timedOut) return { kind: 'cancelled' }
    return { kind: 'failed', error: 'interrupted: the run timed out' }
  }

  get timedOut(): boolean {
    const reason: unknown = this.signal.reason
    return (
      this.signal.aborted &&
      (reason === 'timeout' || (reason instanceof Error && reason.name === 'TimeoutError'))
    )
  }

  /** Call it before a command, a function or an access to files. Rejects when the folders of the run cannot be made. */
  async openDirectory(): Promise<void> {
    if (this.input.openDirectory !== undefined) await (this.#opening ??= this.#open(this.input.openDirectory))
  }

  /** Does the same. Resolves to false when they cannot be made; `directoryError` is the reason. */
  async hasDirectory(): Promise<boolean> {
    await this.openDirectory().catch(() => undefined)
    return this.#directoryError === ''
  }

  /** Why the folders of the run could not be made, or `""`. */
  get directoryError(): string {
    return this.#directoryError
  }

  async #open(make: () => Promise<Owner | undefined>): Promise<void> {
    try {
      const owner = await make()
      if (owner !== undefined) this.#input = { ...this.#input, owner }
    } catch (error) {
      this.#directoryError = messageOf(error)
      throw error
    }
  }

  nextSeq(): number {
    return ++this.#seq
  }

  /** Steps that run again through a goto get `#2` and so on. Keys are unique, and the same in every attempt. */
  uniqueKey(key: string): string {
    const times = (this.#keys.get(key) ?? 0) + 1
    this.#keys.set(key, times)
    return times === 1 ? key : `${key}#${times}`
  }

  async runner(spec: RunnerSpec): Promise<Runner> {
    const key = JSON.stringify(spec)
    const known = this.#runners.get(key)
    if (known !== undefined) return await known
    const opening = this.input.openRunner(spec)
    this.#runners.set(key, opening)
    return await opening
  }

  pidStarted(pid: number): void {
    this.#pids.push(pid)
    this.input.recorder.currentPid(pid)
  }

  pidEnded(pid: number): void {
    const at = this.#pids.indexOf(pid)
    if (at === -1) return
    this.#pids.splice(at, 1)
    this.input.recorder.currentPid(this.#pids.at(-1) ?? 0)
  }

  /** Masks secrets in a text and bounds its length for the record. */
  recordable(text: string, max: number): string {
    const masked = this.mask.text(text)
    return masked.length <= max ? masked : `${masked.slice(0, max - 1)}…`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const runners = await Promise.allSettled(this.#runners.values())
    for (const runner of runners) {
      if (runner.status === 'fulfilled') await runner.value[Symbol.asyncDispose]()
    }
    if (this.#ownEngine) await this.engine[Symbol.asyncDispose]()
  }
}
