import type { Command, CommandIo, Outcome, OutputStream } from '@scanfarm/contracts'
import { settlesWithin } from '@scanfarm/platform'
import { watchInterruption, type StopOptions } from '../interruption.ts'
import type { ShellSession, CommandEnd, CommandObserver } from './shell-session.ts'

/** Where shell sessions run commands: a container or a remote host. */
export interface CommandTarget {
  /** The marker of the attempt's `number`th command. Rejects if no shell is available to kill it. */
  nextMarker(number: number): Promise<string>
  /** Working directory of commands that set none. */
  readonly cwd: string
  readonly stop: Required<StopOptions>
  /**
   * Sends TERM or INT, waits, then sends KILL to all processes with the marker and to the leader's session. Resolves with
   * their pids when all are dead, with none if it cannot kill them.
   */
  kill(marker: string, leader: number, stop: Required<StopOptions>): Promise<number[]>
  /** Why the shell of a command ended; `why`: the error of its channel. */
  explainLoss(why: string | undefined): Promise<Outcome>
  /** Why a command died by SIGKILL, if known. `oomKills`: the kernel's count so far. */
  explainKill?(oomKills: number): string | undefined
}

/** Interval of the checks whether a killed command has ended. */
const POLL_MS = 200
/** A command that survives KILL for this long hangs in the kernel; its session is closed. */
const GIVE_UP_MS = 10_000
/** The exit code of a shell for a death by SIGKILL. */
const KILLED = 137

/** Runs one command in one session. */
export async function runInSession(
  target: CommandTarget,
  session: ShellSession,
  marker: string,
  command: Command,
  io: CommandIo,
  signal: AbortSignal,
): Promise<Outcome> {
  const receiver = new Receiver(io)
  using interruption = watchInterruption([signal], command.timeoutMs)
  const ended = session.run(
    { argv: command.argv, env: command.env, cwd: command.cwd ?? target.cwd, marker },
    receiver,
  )
  const stop = { ...target.stop, ...(command.graceMs !== undefined && { graceMs: command.graceMs }) }
  const kill = (): Promise<number[]> =>
    killUntilGone(target, session, ended, marker, () => receiver.pid, stop, signal)
  try {
    const first = await Promise.race([ended, interruption.occurred, receiver.failed])
    return typeof first === 'string'
      ? { kind: first, killed: await kill() }
      : await outcomeOf(target, command, first)
  } catch (error) {
    await kill()
    throw error
  }
}

/** Passes events on to the caller until the caller fails to receive one. */
class Receiver implements CommandObserver {
  pid = 0
  readonly failed: Promise<never>
  readonly #io: CommandIo
  readonly #fail: (error: unknown) => void
  #hasFailed = false

  constructor(io: CommandIo) {
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => (this.#hasFailed = true))
    this.#io = io
    this.failed = promise
    this.#fail = reject
  }

  started(pid: number): void {
    this.pid = pid
    try {
      this.#io.onStart?.(pid)
    } catch (error) {
      this.#fail(error)
    }
  }

  async output(stream: OutputStream, chunk: Buffer): Promise<void> {
    if (this.#hasFailed) return
    try {
      await this.#io.onOutput?.(stream, chunk)
    } catch (error) {
      this.#fail(error)
    }
  }
}

async function killUntilGone(
  target: CommandTarget,
  session: ShellSession,
  ended: Promise<CommandEnd>,
  marker: string,
  leader: () => number,
  { graceMs, interrupts }: Required<StopOptions>,
  cancelled: AbortSignal,
): Promise<number[]> {
  const killed = new Set<number>()
  const since = Date.now()
  const longestMs = cancelled.aborted ? graceMs : Math.max(graceMs, ...interrupts.values())
  const giveUpAt = since + longestMs + GIVE_UP_MS
  const kill = (most: number): Promise<number[]> =>
    target.kill(marker, leader(), {
      graceMs: Math.min(most, graceMs),
      interrupts: new Map([...interrupts].map(([name, ms]) => [name, Math.min(most, ms)])),
    })
  using cancel = watchInterruption(cancelled.aborted ? [] : [cancelled], undefined)
  /** A cancel meanwhile grants the usual time only. */
  const hurry = async (first: Promise<number[]>): Promise<number[]> => {
    await cancel.occurred
    if (!(await settlesWithin(first, since + graceMs - Date.now()))) await kill(0)
    return await first
  }
  const first = kill(longestMs)
  let killing = Promise.race([first, hurry(first)])
  // A command may start after the first kill.
  for (;;) {
    // The connection to the target may hang; a cancel must not wait for it forever.
    if (!(await settlesWithin(killing, longestMs + GIVE_UP_MS))) break
    for (const pid of await killing) killed.add(pid)
    if ((await settlesWithin(ended, POLL_MS)) || Date.now() >= giveUpAt) break
    killing = kill(0)
  }
  if (!(await settlesWithin(ended, 0))) session.close()
  return [...killed]
}

async function outcomeOf(target: CommandTarget, command: Command, end: CommandEnd): Promise<Outcome> {
  if (end.kind === 'gone') return await target.explainLoss(end.why)
  if (end.kind === 'refused') return { kind: 'not-started', reason: explainRefusal(target, command, end.why) }
  const reason = end.code === KILLED ? target.explainKill?.(end.oomKills) : undefined
  return reason === undefined
    ? { kind: 'exited', code: end.code }
    : { kind: 'signalled', signal: 'SIGKILL', reason }
}

function explainRefusal(target: CommandTarget, command: Command, why: string): string {
  const program = command.argv[0] ?? ''
  if (why === 'folder')
    return `the folder ${command.cwd ?? target.cwd} does not exist there or cannot be entered`
  if (why === 'denied') return `${program} may not be executed there`
  if (why !== 'missing') return `${program} could not be started: ${why}`
  return program.includes('/')
    ? `${program} does not exist there`
    : `${program} was not found in the PATH there`
}
