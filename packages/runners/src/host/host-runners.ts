import { chownSync, statSync } from 'node:fs'
import {
  RunnerUnavailableError,
  type Command,
  type CommandIo,
  type Outcome,
  type Runner,
  type RunnerContext,
  type RunnerProvider,
  type RunnerSpec,
  type Owner,
} from '@scanfarm/contracts'
import { foldersOf, startFolder } from '../run-folders.ts'
import { commandMarker, MARKER_VARIABLE } from '../marker.ts'
import { RunningCommands } from '../running-commands.ts'
import { withDefaults, type StopOptions } from '../interruption.ts'
import { killProcessTree } from './process-tree.ts'
import { PipePool } from './pipe-pool.ts'
import { LauncherClient } from './launcher/client.ts'
import { runProcess, type ProcessTools } from './run-process.ts'
import { bounded, launcherPrograms, type CommandBounds } from './launcher/programs.ts'
import { sandboxWords, type Sandbox } from './sandbox.ts'
import { OrphanFinder } from './orphans.ts'
import { errorText } from '@scanfarm/platform'

export interface HostRunnersOptions extends StopOptions {
  /** Commands will run soon: what they need is started with the runners. */
  readonly startNow?: boolean
  /** Insists on one program of the launcher; default: Perl if the system has it, else Node. */
  readonly launcher?: 'perl' | 'node'
  /** The user of commands whose run names none, if this program is root; default: the user of this program. */
  readonly user?: Owner
  /** Limits of every command. */
  readonly bounds?: CommandBounds
  /** Isolates commands that cannot run as another user. */
  readonly sandbox?: Sandbox
  /** Variables of every command unless it sets them itself; default none. */
  readonly env?: Readonly<Record<string, string>>
}

export interface HostRunners extends RunnerProvider {
  /** Pid of the launcher while it runs. */
  readonly launcherPid: number | undefined
  /**
   * Kills every process of a user that only commands run as. Rejects if some may be left. `areOurs`: all of them were
   * started here or noted, so that they are only killed if there may be any.
   */
  endUser(user: Owner, areOurs?: boolean): Promise<void>
  /** Another runner starts processes of the user. */
  noteOthers(user: Owner): void
}

/** Runs commands on this machine. Close the runners before the provider. */
export function createHostRunners(options: HostRunnersOptions = {}): HostRunners {
  const pipes = new PipePool((paths) => launcher.makePipes(paths))
  const programs = launcherPrograms(options.launcher).map((program) => bounded(program, options.bounds ?? {}))
  const launcher = new LauncherClient(programs, pipes.folder)
  const tools = { launcher, pipes, groups: new Set<number>() }
  const orphans = new OrphanFinder()
  if (options.startNow === true) {
    launcher.start()
    pipes.start()
  }
  return {
    get launcherPid() {
      return launcher.pid
    },
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      if (spec.type !== 'host')
        throw new RunnerUnavailableError(`the host runner cannot run ${spec.type} commands`)
      launcher.start()
      return new HostRunner(options, context, tools, orphans)
    },
    endUser: (user, areOurs = false) => launcher.killUser(user, areOurs),
    noteOthers: (user) => launcher.noteOthers(user),
    async [Symbol.asyncDispose]() {
      await launcher[Symbol.asyncDispose]()
      await pipes[Symbol.asyncDispose]()
    },
  }
}

/** Synchronous, because a round trip through the thread pool takes many times longer. */
function prepareFolder(folder: string, user: HostRunnersOptions['user']): void {
  try {
    const found = statSync(folder)
    if (!found.isDirectory()) throw new Error('it is a file')
    if (user !== undefined && (found.uid !== user.uid || found.gid !== user.gid))
      chownSync(folder, user.uid, user.gid)
  } catch (error) {
    throw new RunnerUnavailableError(`the run's folder ${folder} cannot be used: ${errorText(error)}`, {
      cause: error,
    })
  }
}

/** Folders that commands of a run may write to. */
const writableFolders = (context: RunnerContext): string[] => [
  ...foldersOf(context),
  ...(context.home === undefined ? [] : [context.home]),
]

class HostRunner implements Runner {
  readonly type = 'host'
  readonly facts = {}
  readonly sharesFiles = true
  readonly #options: HostRunnersOptions
  readonly #context: RunnerContext
  readonly #tools: ProcessTools
  readonly #orphans: OrphanFinder
  readonly #openedTicks: number
  readonly #running = new RunningCommands()
  #commands = 0

  constructor(
    options: HostRunnersOptions,
    context: RunnerContext,
    tools: ProcessTools,
    orphans: OrphanFinder,
  ) {
    this.#options = options
    this.#context = context
    this.#tools = tools
    this.#orphans = orphans
    this.#openedTicks = orphans.ticks
  }

  async run(command: Command, io: CommandIo): Promise<Outcome> {
    if (this.#commands === 0) {
      await this.#context.prepare?.()
      prepareFolder(this.#context.folder, this.#context.owner ?? this.#options.user)
    }
    const marker = commandMarker(this.#context.marker, ++this.#commands)
    const cwd = command.cwd ?? startFolder(this.#context)
    const { sandbox } = this.#options
    const { graceMs, interrupts } = withDefaults(this.#options)
    const plan = {
      wrapper: sandbox && sandboxWords(sandbox, writableFolders(this.#context), cwd),
      argv: command.argv,
      env: { ...this.#options.env, ...command.env, [MARKER_VARIABLE]: marker },
      cwd,
      ...(this.#context.owner ?? this.#options.user),
      attemptMarker: this.#context.marker,
      commandMarker: marker,
      timeoutMs: command.timeoutMs,
      interrupts,
      graceMs: command.graceMs ?? graceMs,
      signals: [io.signal, this.#running.closing],
    }
    return await this.#running.add(runProcess(this.#tools, plan, io))
  }

  async push(): Promise<void> {}
  async pull(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.cancelAll()
    if (this.#commands === 0) return
    const { marker, owner = this.#options.user } = this.#context
    const { launcher, groups } = this.#tools
    if (launcher.mayHaveOrphans(marker)) {
      const attempt = { marker, ...(owner && { user: owner }) }
      const orphans = await this.#orphans.find(attempt, this.#openedTicks, groups)
      if (orphans.length > 0) await killProcessTree(attempt, 0)
    }
    launcher.forget(marker)
  }
}
