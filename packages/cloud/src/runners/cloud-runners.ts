import {
  RunnerUnavailableError,
  type Command,
  type CommandIo,
  type Outcome,
  type Runner,
  type RunnerContext,
  type RunnerProvider,
  type RunnerSpec,
} from '@scanfarm/contracts'
import { dirname } from 'node:path'
import type { Logger } from '@scanfarm/platform'
import { createSshRunners, type SshRunnersOptions } from '@scanfarm/runners'
import type { CloudStore, RunPlace } from '@scanfarm/store'
import { quote } from '../machine/quote.ts'
import { askOverSsh } from '../machine/ssh-question.ts'
import { ensureWorkFolder } from '../machine/work-folder.ts'
import type { CloudProviders } from '../open-providers.ts'
import { KeyFiles, type HeldFiles } from './key-files.ts'
import { whyGone } from './machine-fate.ts'

export interface CloudRunnersOptions {
  readonly store: Pick<CloudStore, 'placeOf' | 'instanceLost'>
  readonly providers: Pick<CloudProviders, 'get'>
  readonly log: Logger
  /** Keys of machines are kept here while runs use them, mode 0600. */
  readonly keyFolder: string
  /** For steps that name an ssh host of their own; missing: there are none in cloud runs. Closed by its owner. */
  readonly ssh?: RunnerProvider
  /** Of connections to machines; what is left out is as for ssh hosts. */
  readonly connections?: Pick<
    SshRunnersOptions,
    'graceMs' | 'keepAlive' | 'timeoutMs' | 'attempts' | 'idleMs'
  >
  /** How long the fate of a machine that fell silent is looked into; default 10 s. */
  readonly judgeMs?: number
  /** A run moves because its machine is gone. */
  onLost?(infraNo: number, instanceNo: number): void
}

const PREPARE_TIMEOUT_MS = 20_000
const MOST_REMEMBERED = 10_000

/** Takes the commands of cloud runs to their machines. Close the opened runners before it. */
export function createCloudRunners(options: CloudRunnersOptions): RunnerProvider {
  const machines = createSshRunners(options.connections)
  const keys = new KeyFiles(options.keyFolder)
  const prepared = new Set<string>()
  return {
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      if (spec.type === 'docker')
        throw new RunnerUnavailableError(
          'cloud runs work on their machine itself: docker steps need another run mode',
        )
      if (spec.type === 'ssh') return await openOwn(options.ssh, spec, context)
      const place = await options.store.placeOf(context.runUuid, context.attempt)
      if (place === undefined) throw new RunnerUnavailableError('the run has no machine any more')
      return await openThere(place, context)
    },
    async [Symbol.asyncDispose]() {
      await using _ = keys
      await machines[Symbol.asyncDispose]()
    },
  }

  async function openThere(place: RunPlace, context: RunnerContext): Promise<Runner> {
    const files = await keys.hold(place)
    try {
      await prepare(place, context, prepared)
      const runner = await machines.open(sshSpec(place, files), context)
      return new MachineRunner(runner, place, files, context, options)
    } catch (error) {
      await files.release()
      if (!(error instanceof RunnerUnavailableError)) throw error
      const reason = await reportIfGone(place, options, context.signal)
      if (reason === undefined) throw error
      throw new RunnerUnavailableError(`the machine of the run is gone: ${reason}`, { cause: error })
    }
  }
}

async function openOwn(
  ssh: RunnerProvider | undefined,
  spec: RunnerSpec,
  context: RunnerContext,
): Promise<Runner> {
  if (ssh === undefined) throw new RunnerUnavailableError('ssh commands are switched off here')
  return await ssh.open(spec, context)
}

const sshSpec = ({ address, port, sshUser }: RunPlace, { keyFile, knownHosts }: HeldFiles): RunnerSpec => ({
  type: 'ssh',
  host: address,
  port,
  user: sshUser,
  keyFile,
  knownHosts,
  hostKeys: 'strict',
})

/** The user of the machine may make the folders of runs there; once for each machine. */
async function prepare(place: RunPlace, context: RunnerContext, prepared: Set<string>): Promise<void> {
  if (place.sshUser === 'root') return
  const parents = new Set([context.folder, context.workspace ?? context.folder].map((path) => dirname(path)))
  for (const folder of parents) {
    const key = `${place.instanceNo} ${folder}`
    if (prepared.has(key)) continue
    const line = `exec /bin/sh -c ${quote(ensureWorkFolder(place.sshUser, folder))}`
    const { signal } = context
    const answer = await askOverSsh({ ...place, user: place.sshUser }, line, {
      timeoutMs: PREPARE_TIMEOUT_MS,
      signal,
    })
    if (answer.kind === 'silent')
      throw new RunnerUnavailableError(`the machine of the run does not answer: ${answer.reason}`)
    if (answer.code !== 0)
      throw new RunnerUnavailableError(
        `the folder ${folder} cannot be made on the machine: its user ${place.sshUser} has no sudo there`,
      )
    if (prepared.size >= MOST_REMEMBERED) prepared.clear()
    prepared.add(key)
  }
}

/** Tells the store that a machine is gone if it is: its runs move. Resolves with why. */
async function reportIfGone(
  place: RunPlace,
  options: CloudRunnersOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (signal.aborted) return undefined
  const reason = await whyGone(place, options, signal)
  if (reason === undefined) return undefined
  const { moved } = await options.store.instanceLost(place.instanceNo, reason)
  options.log.warn('the machine of a run is gone', { infra_id: place.infraId, reason, runs_moved: moved })
  options.onLost?.(place.infraNo, place.instanceNo)
  return reason
}

/** Commands of one run on its machine. */
class MachineRunner implements Runner {
  readonly type = 'ssh'
  readonly facts: Readonly<Record<string, string>>
  readonly sharesFiles: boolean
  readonly #runner: Runner
  readonly #place: RunPlace
  readonly #files: HeldFiles
  readonly #context: RunnerContext
  readonly #options: CloudRunnersOptions

  constructor(
    runner: Runner,
    place: RunPlace,
    files: HeldFiles,
    context: RunnerContext,
    options: CloudRunnersOptions,
  ) {
    this.#runner = runner
    this.#place = place
    this.#files = files
    this.#context = context
    this.#options = options
    this.sharesFiles = runner.sharesFiles
    this.facts = { ...runner.facts, cloud_infra: place.infraId, cloud_machine: place.resourceId }
  }

  async run(command: Command, io: CommandIo): Promise<Outcome> {
    const outcome = await this.#runner.run(command, io)
    if (outcome.kind !== 'lost') return outcome
    const reason = await this.#whyGone(io.signal)
    return reason === undefined ? outcome : { kind: 'lost', reason: `the machine is gone: ${reason}` }
  }

  push(path: string, signal: AbortSignal): Promise<void> {
    return this.#moving(() => this.#runner.push(path, signal), signal)
  }

  pull(path: string, signal: AbortSignal): Promise<void> {
    return this.#moving(() => this.#runner.pull(path, signal), signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#runner[Symbol.asyncDispose]()
    } finally {
      await this.#files.release()
    }
  }

  /** Files get lost with machines as commands do. */
  async #moving(move: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await move()
    } catch (error) {
      if (!signal.aborted) await this.#whyGone(signal)
      throw error
    }
  }

  #whyGone(signal: AbortSignal): Promise<string | undefined> {
    return reportIfGone(this.#place, this.#options, AbortSignal.any([signal, this.#context.signal]))
  }
}
