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
} from '@scanfarm/contracts'
import { foldersOf, startFolder } from '../run-folders.ts'
import { commandMarker, MARKER_VARIABLE } from '../marker.ts'
import { DirectLauncher } from './direct-launcher.ts'
import { killFamily } from './family.ts'
import { PipePool } from './pipe-pool.ts'
import { ResidentLauncher } from './resident-launcher.ts'
import { runProcess, type ProcessTools } from './run-process.ts'
import { bounded, spawnerPrograms, type CommandBounds } from './spawner-program.ts'
import type { User } from './launcher.ts'
import { sandboxWords, type Sandbox } from './sandbox.ts'
import { StrayFinder } from './strays.ts'
import { messageOf } from '../error-facts.ts'

export interface HostRunnersOptions {
  /** Time between TERM and KILL where a command names none; default 1000. */
  readonly graceMs?: number
  /**
   * Start commands from a small resident process (default): the rate does not fall as this program grows, and commands
   * die with this program even when it is killed. It is a Perl program where the system has Perl, else a Node program;
   * `perl` and `node` insist on one. `false` starts commands directly.
   */
  readonly spawner?: boolean | 'perl' | 'node'
  /** What commands run as when this program is root and their run names no other; default: as this program. */
  readonly user?: User
  /** What commands are bound by besides; they hold where a resident process starts them. */
  readonly bounds?: CommandBounds
  /** Keeps commands apart from this program where they cannot be another user. */
  readonly sandbox?: Sandbox
  /** Variables that every command gets unless it sets them itself; default none. */
  readonly env?: Readonly<Record<string, string>>
}

export interface HostRunners extends RunnerProvider {
  /** Pid of the resident process that starts commands, while there is one. */
  readonly spawnerPid: number | undefined
  /** Kills every process of a user that commands alone run as. Rejects when some may be left. */
  endUser(user: User): Promise<void>
}

const DEFAULT_GRACE_MS = 1_000
/** A reason of its own costs an error with a stack for each run. */
const CLOSED = 'the runner is closed'

/** Runs commands on this machine. Close the runners before the provider. */
export function createHostRunners(options: HostRunnersOptions = {}): HostRunners {
  const pipes = new PipePool()
  const resident = makeResident(options, pipes.folder)
  const tools = { launcher: resident ?? new DirectLauncher(), pipes, groups: new Set<number>() }
  const strays = new StrayFinder()
  return {
    get spawnerPid() {
      return resident?.spawnerPid
    },
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      if (spec.type !== 'host')
        throw new RunnerUnavailableError(`the host runner cannot run ${spec.type} commands`)
      resident?.warmUp()
      prepareFolder(context.folder, context.owner ?? options.user)
      return new HostRunner(options, context, tools, strays)
    },
    endUser: (user) => tools.launcher.purge(user),
    async [Symbol.asyncDispose]() {
      await tools.launcher[Symbol.asyncDispose]()
      await pipes[Symbol.asyncDispose]()
    },
  }
}

function makeResident(
  { spawner = true, bounds = {} }: HostRunnersOptions,
  pipeFolder: string,
): ResidentLauncher | undefined {
  if (spawner === false) return undefined
  const programs = spawnerPrograms(spawner === true ? undefined : spawner)
  return new ResidentLauncher(
    programs.map((program) => bounded(program, bounds)),
    pipeFolder,
  )
}

/** Synchronous, because a round through the thread pool costs many times the call. */
function prepareFolder(folder: string, user: HostRunnersOptions['user']): void {
  try {
    const found = statSync(folder)
    if (!found.isDirectory()) throw new Error('it is not a folder')
    if (user !== undefined && (found.uid !== user.uid || found.gid !== user.gid))
      chownSync(folder, user.uid, user.gid)
  } catch (error) {
    throw new RunnerUnavailableError(`the run's folder ${folder} cannot be used: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** Where commands of a run may write on this machine. */
const hereOf = (context: RunnerContext): string[] => [
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
  readonly #strays: StrayFinder
  readonly #openedTicks: number
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<Outcome>>()
  #commands = 0

  constructor(options: HostRunnersOptions, context: RunnerContext, tools: ProcessTools, strays: StrayFinder) {
    this.#options = options
    this.#context = context
    this.#tools = tools
    this.#strays = strays
    this.#openedTicks = strays.ticks
  }

  async run(command: Command, io: CommandIo): Promise<Outcome> {
    const marker = commandMarker(this.#context.marker, ++this.#commands)
    const cwd = command.cwd ?? startFolder(this.#context)
    const { sandbox } = this.#options
    const plan = {
      wrapper: sandbox && sandboxWords(sandbox, hereOf(this.#context), cwd),
      argv: command.argv,
      env: { ...this.#options.env, ...command.env, [MARKER_VARIABLE]: marker },
      cwd,
      ...(this.#context.owner ?? this.#options.user),
      attemptMarker: this.#context.marker,
      commandMarker: marker,
      timeoutMs: command.timeoutMs,
      graceMs: command.graceMs ?? this.#options.graceMs ?? DEFAULT_GRACE_MS,
      signals: [io.signal, this.#closing.signal],
    }
    const outcome = runProcess(this.#tools, plan, io)
    this.#running.add(outcome)
    try {
      return await outcome
    } finally {
      this.#running.delete(outcome)
    }
  }

  async push(): Promise<void> {}
  async pull(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(CLOSED)
    await Promise.allSettled(this.#running)
    if (this.#commands === 0) return
    const { marker, owner = this.#options.user } = this.#context
    const attempt = { marker, ...(owner && { user: owner }) }
    const strays = await this.#strays.find(attempt, this.#openedTicks, this.#tools.groups)
    if (strays.length > 0) await killFamily(attempt, 0)
    this.#tools.launcher.forget(marker)
  }
}
