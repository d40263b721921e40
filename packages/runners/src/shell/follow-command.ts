import type { Command, CommandIo, Outcome, OutputStream } from '@scanfarm/contracts'
import { settlesWithin, watchForStop } from '../stop-watch.ts'
import type { Lane, LaneEnd, LaneWatcher } from './lane.ts'

/** What a place with shells tells about itself. */
export interface ShellPlace {
  /** The marker of the attempt's `number`th command; rejects when there is no way to kill by it. */
  nextMarker(number: number): Promise<string>
  /** Where commands work that name no folder. */
  readonly cwd: string
  readonly graceMs: number
  /**
   * TERM, grace, KILL to all that carry the marker and to the leader's session; resolves with their pids when all are
   * dead, with none when there is no way to kill.
   */
  kill(marker: string, leader: number, graceMs: number): Promise<number[]>
  /** Why the shell of a command is gone; `why`: what its channel said. */
  explainLoss(why: string | undefined): Promise<Outcome>
  /** Why a command died by SIGKILL, if the place knows. `oomKills`: the kernel's count so far. */
  explainKill?(oomKills: number): string | undefined
}

/** Time between two looks whether a killed command is gone. */
const LOOK_AGAIN_MS = 200
/** A command that is not gone by then hangs in the kernel; its shell is given up. */
const GIVE_UP_MS = 10_000
/** How a shell tells a death by SIGKILL. */
const KILLED = 137

/** One command in one shell, from start to end. */
export async function followCommand(
  place: ShellPlace,
  lane: Lane,
  marker: string,
  command: Command,
  io: CommandIo,
  signal: AbortSignal,
): Promise<Outcome> {
  const receiver = new Receiver(io)
  const stop = watchForStop([signal], command.timeoutMs)
  const ended = lane.run(
    { argv: command.argv, env: command.env, cwd: command.cwd ?? place.cwd, marker },
    receiver,
  )
  const kill = (): Promise<number[]> =>
    killUntilGone(place, lane, ended, marker, () => receiver.pid, command.graceMs ?? place.graceMs)
  try {
    const first = await Promise.race([ended, stop.stopped, receiver.failed])
    return typeof first === 'string'
      ? { kind: first, killed: await kill() }
      : await outcomeOf(place, command, first)
  } catch (error) {
    await kill()
    throw error
  } finally {
    stop.close()
  }
}

/** Hands on what happens until the one who asked fails to receive it. */
class Receiver implements LaneWatcher {
  pid = 0
  readonly failed: Promise<never>
  readonly #io: CommandIo
  readonly #fail: (error: unknown) => void
  #deaf = false

  constructor(io: CommandIo) {
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => (this.#deaf = true))
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
    if (this.#deaf) return
    try {
      await this.#io.onOutput?.(stream, chunk)
    } catch (error) {
      this.#fail(error)
    }
  }
}

async function killUntilGone(
  place: ShellPlace,
  lane: Lane,
  ended: Promise<LaneEnd>,
  marker: string,
  leader: () => number,
  graceMs: number,
): Promise<number[]> {
  const killed = new Set<number>()
  const giveUpAt = Date.now() + graceMs + GIVE_UP_MS
  let grace = graceMs
  // A command that was about to start may start after the first look.
  do {
    const killing = place.kill(marker, leader(), grace)
    // The way to the place may hang: whoever cancels is not to wait for it for ever.
    if (!(await settlesWithin(killing, grace + GIVE_UP_MS))) break
    for (const pid of await killing) killed.add(pid)
    grace = 0
  } while (!(await settlesWithin(ended, LOOK_AGAIN_MS)) && Date.now() < giveUpAt)
  if (!(await settlesWithin(ended, 0))) lane.close()
  return [...killed]
}

async function outcomeOf(place: ShellPlace, command: Command, end: LaneEnd): Promise<Outcome> {
  if (end.kind === 'gone') return await place.explainLoss(end.why)
  if (end.kind === 'refused') return { kind: 'not-started', reason: explainRefusal(place, command, end.why) }
  const reason = end.code === KILLED ? place.explainKill?.(end.oomKills) : undefined
  return reason === undefined
    ? { kind: 'exited', code: end.code }
    : { kind: 'signalled', signal: 'SIGKILL', reason }
}

function explainRefusal(place: ShellPlace, command: Command, why: string): string {
  const program = command.argv[0] ?? ''
  if (why === 'folder')
    return `the folder ${command.cwd ?? place.cwd} does not exist there or may not be entered`
  if (why === 'denied') return `${program} may not be executed there`
  if (why !== 'missing') return `${program} could not be started: ${why}`
  return program.includes('/')
    ? `${program} does not exist there`
    : `${program} was not found in the PATH there`
}
