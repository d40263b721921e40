import { access, constants, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CommandIo, Outcome } from '@scanfarm/contracts'
import { codeOf, messageOf } from '../error-facts.ts'
import { settlesWithin, watchForStop } from '../stop-watch.ts'
import { findFamily, killFamily, send, type Family } from './family.ts'
import type { Launched, Launcher, LaunchRequest, ProcessEnd } from './launcher.ts'
import { finishedOrQuiet, OutputReader } from './output-reader.ts'
import type { OutputPipe, PipePool } from './pipe-pool.ts'

/** Time that what a command left behind has to end as well, so that the last of a pipeline is not cut off. */
const LINGER_MS = 500
/** Silence after which output is given up once every process is dead. */
const DRAIN_MS = 1_000
const FIRST_LOOK_MS = 10

export interface ProcessPlan extends Omit<LaunchRequest, 'stdout' | 'stderr' | 'marker'> {
  /** Words before those of the command: a program that starts it apart from this one. */
  readonly wrapper?: readonly string[]
  readonly attemptMarker: string
  readonly commandMarker: string
  readonly timeoutMs?: number
  readonly graceMs: number
  /** Any of them cancels the command. */
  readonly signals: readonly AbortSignal[]
}

export interface ProcessTools {
  readonly launcher: Launcher
  readonly pipes: PipePool
  /** Holds the process group of each command while it runs. */
  readonly groups: Set<number>
}

type Started = Extract<Launched, { kind: 'started' }>

/** One command from start to end; when it resolves nothing of it is left but what escaped without its marker. */
export async function runProcess(tools: ProcessTools, plan: ProcessPlan, io: CommandIo): Promise<Outcome> {
  if (plan.signals.some(({ aborted }) => aborted)) return { kind: 'cancelled', killed: [] }
  const problem = plan.wrapper === undefined ? undefined : await problemOf(plan)
  if (problem !== undefined) return { kind: 'not-started', reason: problem }
  const pipes = await openPipes(tools.pipes)
  if (typeof pipes === 'string') return { kind: 'not-started', reason: pipes }
  const { argv, env, cwd, uid, gid, attemptMarker, commandMarker } = plan
  const [stdout, stderr] = [pipes[0].path, pipes[1].path]
  const launched = await tools.launcher.launch({
    argv: [...(plan.wrapper ?? []), ...argv],
    env,
    cwd,
    uid,
    gid,
    stdout,
    stderr,
    marker: attemptMarker,
  })
  if (launched.kind === 'started') return await attend(tools, plan, io, launched, pipes)
  for (const pipe of pipes) await tools.pipes.closeAndGiveBack(pipe, launched.kind === 'failed')
  if (launched.kind === 'failed') return { kind: 'not-started', reason: await explain(plan, launched) }
  await killFamily({ marker: commandMarker, ...userOf(plan) }, 0)
  return launched
}

type Pipes = readonly [OutputPipe, OutputPipe]

const userOf = ({ uid, gid }: ProcessPlan): Pick<Family, 'user'> =>
  uid === undefined || gid === undefined ? {} : { user: { uid, gid } }

/** Both, or why there is none. */
async function openPipes(pool: PipePool): Promise<Pipes | string> {
  let stdout: OutputPipe | undefined
  try {
    stdout = await pool.open()
    return [stdout, await pool.open()]
  } catch (error) {
    if (stdout !== undefined) await pool.closeAndGiveBack(stdout, true)
    return `no pipe for its output can be opened: ${messageOf(error)}`
  }
}

async function attend(
  tools: ProcessTools,
  plan: ProcessPlan,
  io: CommandIo,
  started: Started,
  pipes: Pipes,
): Promise<Outcome> {
  const family: Family = { leader: started.pid, marker: plan.commandMarker, ...userOf(plan) }
  const readers = pipes.map(
    ({ descriptor }, index) =>
      new OutputReader(descriptor, (chunk) => io.onOutput?.(index === 0 ? 'stdout' : 'stderr', chunk)),
  )
  tools.groups.add(started.pid)
  try {
    return await follow(family, plan, io, started, readers)
  } catch (error) {
    await killFamily(family, plan.graceMs)
    throw error
  } finally {
    tools.groups.delete(started.pid)
    for (const [index, reader] of readers.entries()) {
      reader.close()
      const pipe = pipes[index]
      if (pipe !== undefined) await tools.pipes.giveBack(pipe, reader.ended)
    }
  }
}

async function follow(
  family: Family,
  plan: ProcessPlan,
  io: CommandIo,
  { pid, ended }: Started,
  readers: readonly OutputReader[],
): Promise<Outcome> {
  const received = Promise.all(readers.map((reader) => reader.done))
  const refused = received.then(() => new Promise<never>(() => {}))
  const stop = watchForStop(plan.signals, plan.timeoutMs)
  try {
    io.onStart?.(pid)
    const first = await Promise.race([ended, stop.stopped, refused])
    if (typeof first !== 'string') {
      await windUp(family, readers, received)
      await received
      return outcomeOf(first)
    }
    const killed = await killFamily(family, plan.graceMs)
    await drain(readers)
    await received
    return { kind: first, killed }
  } finally {
    stop.close()
  }
}

/** The command's process is gone: sees to its output and to whatever it left in its group or holding its output. */
async function windUp(
  family: Family,
  readers: readonly OutputReader[],
  received: Promise<unknown>,
): Promise<void> {
  const tidy = (await settlesWithin(received, LINGER_MS)) && (await groupEnds(family))
  if (tidy) return
  await killFamily(family, 0)
  await drain(readers)
}

/** Every writer is dead: what they wrote is read at the receiver's pace, and no end that never comes is waited for. */
async function drain(readers: readonly OutputReader[]): Promise<void> {
  await finishedOrQuiet(readers, DRAIN_MS)
  for (const reader of readers) reader.close()
}

/** A group exists while dead members wait to be reaped, so only a look at the members tells; asking is free. */
async function groupEnds(family: Family): Promise<boolean> {
  if (family.leader === undefined) return true
  let waitMs = FIRST_LOOK_MS
  for (const until = Date.now() + LINGER_MS; Date.now() < until; waitMs *= 2) {
    if (!send(-family.leader, 0) || (await findFamily(family)).members.length === 0) return true
    await delay(waitMs)
  }
  return false
}

const KILLED_FROM_OUTSIDE =
  'killed from outside: by the kernel for want of memory, or by someone on the machine'

const outcomeOf = (end: ProcessEnd): Outcome =>
  end.kind === 'signalled' && end.signal === 'SIGKILL' ? { ...end, reason: KILLED_FROM_OUTSIDE } : end

/** Why a wrapped command could not be started; the wrapper itself would only say so in its output. */
async function problemOf(plan: ProcessPlan): Promise<string | undefined> {
  const { argv, env, cwd } = plan
  const [program = ''] = argv
  const folders = (env['PATH'] ?? '').split(delimiter)
  const places = program.includes('/') ? [program] : folders.map((folder) => join(folder, program))
  let code = 'ENOENT'
  for (const place of places) {
    const found = await access(resolve(cwd, place), constants.X_OK).then(() => '', codeOf)
    if (found === '') return (await isFolder(cwd)) ? undefined : await explain(plan, { code, message: '' })
    if (found === 'EACCES') code = found
  }
  return await explain(plan, { code, message: '' })
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** The system reports a missing folder, a missing program and a script's missing interpreter with the same word. */
async function explain(plan: ProcessPlan, failure: { code: string; message: string }): Promise<string> {
  const program = plan.argv[0] ?? ''
  const folder = await stat(plan.cwd).catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
  if (typeof folder === 'string') return `the folder ${plan.cwd} cannot be used (${folder})`
  if (!folder.isDirectory()) return `${plan.cwd} is not a folder`
  if (failure.code === 'ENOENT')
    return program.includes('/')
      ? `${program} does not exist, or the interpreter that its first line names does not`
      : `${program} was not found in PATH (${plan.env['PATH'] ?? 'which is not set'})`
  if (failure.code === 'EACCES') return `${program} may not be executed, or ${plan.cwd} may not be entered`
  return `${program} could not be started: ${failure.message}`
}
