import type { Command, CommandIo, Outcome } from '@scanfarm/contracts'
import { followCommand, type ShellPlace } from './follow-command.ts'
import type { Lane } from './lane.ts'
import type { LanePool } from './lane-pool.ts'
import { messageOf } from '../error-facts.ts'

/** Runs commands in the shells of a place: the part that containers and ssh hosts share. */
export class ShellCommands implements AsyncDisposable {
  readonly #place: ShellPlace
  readonly #lanes: LanePool
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<Outcome>>()
  #commands = 0

  constructor(place: ShellPlace, lanes: LanePool) {
    this.#place = place
    this.#lanes = lanes
  }

  /** `signal`: another one to cancel by. */
  async run(command: Command, io: CommandIo, signal: AbortSignal = io.signal): Promise<Outcome> {
    const outcome = this.#run(command, io, AbortSignal.any([io.signal, signal, this.#closing.signal]))
    this.#running.add(outcome)
    try {
      return await outcome
    } finally {
      this.#running.delete(outcome)
    }
  }

  /** Cancels what still runs, then closes the shells. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#running)
    this.#lanes.close()
  }

  async #run(command: Command, io: CommandIo, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { kind: 'cancelled', killed: [] }
    const lane = await this.#take(signal)
    if ('kind' in lane) return lane
    try {
      const marker = await this.#marker()
      if (typeof marker !== 'string') return marker
      return await followCommand(this.#place, lane, marker, command, io, signal)
    } finally {
      this.#lanes.giveBack(lane)
    }
  }

  async #marker(): Promise<string | Outcome> {
    try {
      return await this.#place.nextMarker(++this.#commands)
    } catch (error) {
      return { kind: 'not-started', reason: messageOf(error) }
    }
  }

  async #take(signal: AbortSignal): Promise<Lane | Outcome> {
    try {
      return await this.#lanes.take(signal)
    } catch (error) {
      if (signal.aborted) return { kind: 'cancelled', killed: [] }
      return { kind: 'not-started', reason: messageOf(error) }
    }
  }
}
