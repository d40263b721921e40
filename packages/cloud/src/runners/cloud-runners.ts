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
import { createSshRunners, quote, type SshRunnersOptions } from '@scanfarm/runners'
import type { CloudStore, RunMachine } from '@scanfarm/store'
import { runOverSsh } from '../machine/run-over-ssh.ts'
import { ensureWorkFolder } from '../machine/user-data.ts'
import type { CloudProviders } from '../open-providers.ts'
import { diagnoseLostMachine } from './diagnose-lost-machine.ts'
import { KeyFiles, type LeasedKeyFiles } from './key-files.ts'

export interface CloudRunnersOptions {
  readonly store: Pick<CloudStore, 'machineOfRun' | 'loseInstance'>
  readonly providers: Pick<CloudProviders, 'get'>
  readonly log: Logger
  /** Folder for the key files of machines that are in use, mode 0600. */
  readonly keyFolder: string
  /** For steps that name their own ssh host. Missing: such steps fail. Disposed by the caller. */
  readonly ssh?: RunnerProvider
  /** Of connections to machines. Defaults: those of ssh hosts. */
  readonly connections?: Pick<
    SshRunnersOptions,
    'graceMs' | 'keepAlive' | 'timeoutMs' | 'attempts' | 'idleMs'
  >
  /** Time limit for the diagnosis of a machine that does not respond; default 10 s. */
  readonly diagnoseMs?: number
  /** Called when runs are queued again because their machine is gone. */
  onLost?(infraNo: number, instanceNo: number): void
}

const PREPARE_TIMEOUT_MS = 20_000
const MOST_PREPARED = 10_000

/** Executes the commands of cloud runs on their machines, over ssh. Dispose the opened runners first. */
export function createCloudRunners(options: CloudRunnersOptions): RunnerProvider {
  const machines = createSshRunners(options.connections)
  const keys = new KeyFiles(options.keyFolder)
  const prepared = new Set<string>()
  return {
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      if (spec.type === 'docker')
        throw new RunnerUnavailableError(
          'cloud runs execute on the machine itself: docker steps need another run mode',
        )
      if (spec.type === 'ssh') return await openSshHost(options.ssh, spec, context)
      const machine = await options.store.machineOfRun(context.runUuid, context.attempt)
      if (machine === undefined) throw new RunnerUnavailableError('the run has no machine any more')
      return await openMachine(machine, context)
    },
    async [Symbol.asyncDispose]() {
      await using _ = keys
      await machines[Symbol.asyncDispose]()
    },
  }

  async function openMachine(machine: RunMachine, context: RunnerContext): Promise<Runner> {
    const files = await keys.acquire(machine)
    try {
      await prepare(machine, context, prepared)
      const runner = await machines.open(sshSpec(machine, files), context)
      return new MachineRunner(runner, machine, files, context, options)
    } catch (error) {
      await files.release()
      if (!(error instanceof RunnerUnavailableError)) throw error
      const reason = await reportIfGone(machine, options, context.signal)
      if (reason === undefined) throw error
      throw new RunnerUnavailableError(`the machine of the run is gone: ${reason}`, { cause: error })
    }
  }
}

async function openSshHost(
  ssh: RunnerProvider | undefined,
  spec: RunnerSpec,
  context: RunnerContext,
): Promise<Runner> {
  if (ssh === undefined)
    throw new RunnerUnavailableError('ssh steps are not available in cloud runs of this server')
  return await ssh.open(spec, context)
}

const sshSpec = (
  { address, port, sshUser }: RunMachine,
  { keyFile, knownHosts }: LeasedKeyFiles,
): RunnerSpec => ({
  type: 'ssh',
  host: address,
  port,
  user: sshUser,
  keyFile,
  knownHosts,
  hostKeys: 'strict',
})

/** Creates the parent folders of run folders, once for each machine. */
async function prepare(machine: RunMachine, context: RunnerContext, prepared: Set<string>): Promise<void> {
  const { sshUser, instanceNo } = machine
  if (sshUser === 'root') return
  const parents = new Set([context.folder, context.workspace ?? context.folder].map((path) => dirname(path)))
  for (const folder of parents) {
    const key = `${instanceNo} ${folder}`
    if (prepared.has(key)) continue
    const line = `exec /bin/sh -c ${quote(ensureWorkFolder(sshUser, folder))}`
    const { signal } = context
    const result = await runOverSsh({ ...machine, user: sshUser }, line, {
      timeoutMs: PREPARE_TIMEOUT_MS,
      signal,
    })
    if (result.kind === 'unreachable')
      throw new RunnerUnavailableError(`the machine of the run does not respond: ${result.reason}`)
    if (result.code !== 0)
      throw new RunnerUnavailableError(
        `the folder ${folder} cannot be created on the machine: its user ${sshUser} has no sudo rights`,
      )
    if (prepared.size >= MOST_PREPARED) prepared.clear()
    prepared.add(key)
  }
}

/** If the machine is gone, records it, so that its runs are queued again. Resolves with the reason. */
async function reportIfGone(
  machine: RunMachine,
  options: CloudRunnersOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (signal.aborted) return undefined
  const reason = await diagnoseLostMachine(machine, options, signal)
  if (reason === undefined) return undefined
  const { moved } = await options.store.loseInstance(machine.instanceNo, reason)
  options.log.warn('the machine of a run is gone', { infra_id: machine.infraId, reason, runs_moved: moved })
  options.onLost?.(machine.infraNo, machine.instanceNo)
  return reason
}

/** Commands of one run on its machine. */
class MachineRunner implements Runner {
  readonly type = 'ssh'
  readonly facts: Readonly<Record<string, string>>
  readonly sharesFiles: boolean
  readonly #runner: Runner
  readonly #machine: RunMachine
  readonly #files: LeasedKeyFiles
  readonly #context: RunnerContext
  readonly #options: CloudRunnersOptions

  constructor(
    runner: Runner,
    machine: RunMachine,
    files: LeasedKeyFiles,
    context: RunnerContext,
    options: CloudRunnersOptions,
  ) {
    this.#runner = runner
    this.#machine = machine
    this.#files = files
    this.#context = context
    this.#options = options
    this.sharesFiles = runner.sharesFiles
    this.facts = { ...runner.facts, cloud_infra: machine.infraId, cloud_machine: machine.resourceId }
  }

  async run(command: Command, io: CommandIo): Promise<Outcome> {
    const outcome = await this.#runner.run(command, io)
    if (outcome.kind !== 'lost') return outcome
    const reason = await this.#diagnoseLostMachine(io.signal)
    return reason === undefined ? outcome : { kind: 'lost', reason: `the machine is gone: ${reason}` }
  }

  push(path: string, signal: AbortSignal): Promise<void> {
    return this.#transfer(() => this.#runner.push(path, signal), signal)
  }

  pull(path: string, signal: AbortSignal): Promise<void> {
    return this.#transfer(() => this.#runner.pull(path, signal), signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#runner[Symbol.asyncDispose]()
    } finally {
      await this.#files.release()
    }
  }

  /** A transfer of files may fail because the machine is gone, too. */
  async #transfer(transfer: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await transfer()
    } catch (error) {
      if (!signal.aborted) await this.#diagnoseLostMachine(signal)
      throw error
    }
  }

  #diagnoseLostMachine(signal: AbortSignal): Promise<string | undefined> {
    return reportIfGone(this.#machine, this.#options, AbortSignal.any([signal, this.#context.signal]))
  }
}
