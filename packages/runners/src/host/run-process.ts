import { access, constants, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CommandIo, Outcome } from '@scanfarm/contracts'
import { errorText, settlesWithin } from '@scanfarm/platform'
import { codeOf } from '@scanfarm/paths'
import { watchInterruption, type Interrupts } from '../interruption.ts'
import { findProcessTree, killProcessTree, send, type ProcessTree } from './process-tree.ts'
import type { Launched, LauncherClient, ProcessEnd, StartFailure } from './launcher/client.ts'
import type { LaunchRequest } from './launcher/protocol.ts'
import { finishedOrQuiet, OutputReader } from './output-reader.ts'
import type { OutputPipe, PipePool } from './pipe-pool.ts'
import { plainWords } from './plain-command.ts'

/** A command that takes longer is reported as started, and its output is delivered when it arrives. */
const LISTEN_MS = 20
/** Time for background processes to end after their command, so that the last of a pipeline is not cut off. */
const LINGER_MS = 500
/** Once every process is dead, reading stops after this silence. */
const DRAIN_MS = 1_000
const FIRST_POLL_MS = 10

export interface ProcessPlan extends Omit<LaunchRequest, 'stdout' | 'stderr' | 'marker'> {
  /** Arguments before those of the command: a program that starts it in a sandbox. */
  readonly wrapper?: readonly string[]
  readonly attemptMarker: string
  readonly commandMarker: string
  readonly timeoutMs?: number
  readonly graceMs: number
  readonly interrupts: Interrupts
  /** Any of them cancels the command. */
  readonly signals: readonly AbortSignal[]
}

export interface ProcessTools {
  readonly launcher: LauncherClient
  readonly pipes: PipePool
  /** Holds the process group of each command while it runs. */
  readonly groups: Set<number>
}

type Started = Extract<Launched, { kind: 'started' }>

/** Runs one command. When it resolves, every process with the command's marker is dead. */
export async function runProcess(tools: ProcessTools, plan: ProcessPlan, io: CommandIo): Promise<Outcome> {
  const words = plan.wrapper === undefined ? plainWords(plan.argv) : undefined
  if (words !== undefined) {
    const env = { ...plan.env, PWD: plan.cwd }
    const outcome = await runOnce(tools, { ...plan, argv: words, env }, io)
    if (outcome.kind !== 'not-started') return outcome
  }
  // The shell says itself why it cannot start a program, and ends with the code for that.
  return await runOnce(tools, plan, io)
}

async function runOnce(tools: ProcessTools, plan: ProcessPlan, io: CommandIo): Promise<Outcome> {
  if (isCancelled(plan)) return { kind: 'cancelled', killed: [] }
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
  for (const pipe of pipes) await tools.pipes.closeAndRelease(pipe, launched.kind === 'failed')
  if (launched.kind === 'failed') return { kind: 'not-started', reason: await explain(plan, launched) }
  await killProcessTree({ marker: commandMarker, ...userOf(plan) }, 0)
  return launched
}

const isCancelled = ({ signals }: ProcessPlan): boolean => signals.some(({ aborted }) => aborted)

type Pipes = readonly [OutputPipe, OutputPipe]

const userOf = ({ uid, gid }: ProcessPlan): Pick<ProcessTree, 'user'> =>
  uid === undefined || gid === undefined ? {} : { user: { uid, gid } }

/** Both pipes, or the reason why they cannot be opened. */
async function openPipes(pool: PipePool): Promise<Pipes | string> {
  let stdout: OutputPipe | undefined
  try {
    stdout = await pool.open()
    return [stdout, await pool.open()]
  } catch (error) {
    if (stdout !== undefined) await pool.closeAndRelease(stdout, true)
    return `cannot open a pipe for its output: ${errorText(error)}`
  }
}

async function attend(
  tools: ProcessTools,
  plan: ProcessPlan,
  io: CommandIo,
  started: Started,
  pipes: Pipes,
): Promise<Outcome> {
  const tree: ProcessTree = { leader: started.pid, marker: plan.commandMarker, ...userOf(plan) }
  const readers = pipes.map(
    ({ descriptor }, index) =>
      new OutputReader(descriptor, (chunk) => io.onOutput?.(index === 0 ? 'stdout' : 'stderr', chunk)),
  )
  tools.groups.add(started.pid)
  try {
    return await follow(tree, plan, io, started, readers)
  } catch (error) {
    await killProcessTree(tree, plan.graceMs)
    throw error
  } finally {
    tools.groups.delete(started.pid)
    for (const [index, reader] of readers.entries()) {
      reader.close()
      const pipe = pipes[index]
      if (pipe !== undefined) await tools.pipes.release(pipe, reader.ended)
    }
  }
}

async function follow(
  tree: ProcessTree,
  plan: ProcessPlan,
  io: CommandIo,
  { pid, ended }: Started,
  readers: readonly OutputReader[],
): Promise<Outcome> {
  const received = Promise.all(readers.map((reader) => reader.done))
  const refused = received.then(() => new Promise<never>(() => {}))
  using interruption = watchInterruption(plan.signals, plan.timeoutMs)
  let isReported = false
  const report = (): void => {
    if (!isReported) io.onStart?.(pid)
    isReported = true
  }
  const listen = (): void => {
    report()
    for (const reader of readers) reader.listen()
  }
  const listening = setTimeout(listen, LISTEN_MS)
  const first = await Promise.race([ended, interruption.occurred, refused]).finally(() =>
    clearTimeout(listening),
  )
  if (typeof first !== 'string') {
    const { end, mayHaveOrphans } = first
    if (end.kind === 'failed') return { kind: 'not-started', reason: await explain(plan, end) }
    report()
    for (const reader of readers) reader.readRest()
    await windUp(tree, readers, received, mayHaveOrphans)
    await received
    return outcomeOf(end)
  }
  listen()
  const stop = { interrupts: plan.interrupts, inTime: () => !isCancelled(plan) }
  const killed = await killProcessTree(tree, plan.graceMs, stop)
  await drain(readers)
  await received
  return { kind: first, killed }
}

/** After the command's process ended: reads the rest of its output and kills the background processes of its group. */
async function windUp(
  tree: ProcessTree,
  readers: readonly OutputReader[],
  received: Promise<unknown>,
  mayHaveOrphans: boolean,
): Promise<void> {
  const isRead = readers.every(({ finished }) => finished) || (await settlesWithin(received, LINGER_MS))
  if (isRead && (!mayHaveOrphans || (await groupEnds(tree)))) return
  await killProcessTree(tree, 0)
  await drain(readers)
}

/** Every writer is dead: reads what they wrote at the receiver's pace. An end that never comes is not waited for. */
async function drain(readers: readonly OutputReader[]): Promise<void> {
  await finishedOrQuiet(readers, DRAIN_MS)
  for (const reader of readers) reader.close()
}

/** A group exists as long as dead members wait to be reaped, so its members are checked; the signal 0 is cheap. */
async function groupEnds(tree: ProcessTree): Promise<boolean> {
  if (tree.leader === undefined) return true
  let waitMs = FIRST_POLL_MS
  for (const until = Date.now() + LINGER_MS; Date.now() < until; waitMs *= 2) {
    if (!send(-tree.leader, 0) || (await findProcessTree(tree)).members.length === 0) return true
    await delay(waitMs)
  }
  return false
}

const KILLED_FROM_OUTSIDE =
  'killed from outside: by the kernel because memory ran out, or by another process of the machine'

const outcomeOf = (end: ProcessEnd): Outcome =>
  end.kind === 'signalled' && end.signal === 'SIGKILL' ? { ...end, reason: KILLED_FROM_OUTSIDE } : end

/** Why a sandboxed command cannot be started; the wrapper itself would only report it in its output. */
async function problemOf(plan: ProcessPlan): Promise<string | undefined> {
  const { argv, env, cwd } = plan
  const [program = ''] = argv
  const folders = (env['PATH'] ?? '').split(delimiter)
  const candidates = program.includes('/') ? [program] : folders.map((folder) => join(folder, program))
  let code = 'ENOENT'
  for (const path of candidates) {
    const found = await access(resolve(cwd, path), constants.X_OK).then(() => '', codeOf)
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

/** The system reports a missing folder, a missing program and a script's missing interpreter with the same code. */
async function explain(plan: ProcessPlan, failure: Pick<StartFailure, 'code' | 'message'>): Promise<string> {
  const program = plan.argv[0] ?? ''
  const folder = await stat(plan.cwd).catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
  if (typeof folder === 'string') return `the folder ${plan.cwd} cannot be used (${folder})`
  if (!folder.isDirectory()) return `${plan.cwd} is not a folder`
  if (failure.code === 'ENOENT')
    return program.includes('/')
      ? `${program} does not exist, or the interpreter that its first line names does not`
      : `${program} was not found in PATH (${plan.env['PATH'] ?? 'not set'})`
  if (failure.code === 'EACCES') return `${program} may not be executed, or ${plan.cwd} may not be entered`
  return `${program} could not be started: ${failure.message}`
}
