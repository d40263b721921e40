import { killText, laneFunctions } from './lane-script.ts'
import { newNonce, type ShellChannel } from './lane.ts'

/** A shell beside the lanes, always free, that kills what runs in them. */
export class ControlLane {
  /** Settles when it can kill no more. */
  readonly gone: Promise<void>
  readonly #channel: ShellChannel
  readonly #waiting = new Map<string, (killed: number[]) => void>()
  #isGone = false
  #line = ''

  /** `lastWords`: shell text that runs when the channel ends, whoever ended it. */
  constructor(channel: ShellChannel, lastWords = '') {
    this.#channel = channel
    channel.write(`${laneFunctions()}\n${lastWords}\n`)
    this.gone = this.#pump()
  }

  get usable(): boolean {
    return !this.#isGone
  }

  /**
   * TERM, grace, KILL to all that carry the marker and to the leader's session; resolves with their pids when all are
   * dead, with none when the way there is gone.
   */
  async kill(marker: string, leader: number, graceMs: number): Promise<number[]> {
    if (this.#isGone) return []
    const nonce = newNonce()
    const { promise, resolve } = Promise.withResolvers<number[]>()
    this.#waiting.set(nonce, resolve)
    this.#channel.write(killText(nonce, marker, leader, graceMs))
    return await promise
  }

  /** Shell text to do last; resolves when the shell has ended or the way there is gone. */
  async finish(text: string): Promise<void> {
    if (!this.#isGone) this.#channel.write(`${text}\n`)
    this.#channel.end()
    await this.gone
  }

  close(): void {
    this.#channel.close()
  }

  async #pump(): Promise<void> {
    try {
      for await (const { stream, bytes } of this.#channel.pieces)
        if (stream === 'stdout') this.#hear(bytes.toString())
    } catch {
      // The same as its end: nobody can be killed from here any more.
    } finally {
      this.#isGone = true
      this.#channel.close()
      for (const answer of this.#waiting.values()) answer([])
      this.#waiting.clear()
    }
  }

  #hear(text: string): void {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) {
      const [nonce = '', , ...pids] = line.split(' ')
      this.#waiting.get(nonce)?.([...new Set(pids.map(Number))].sort((a, b) => a - b))
      this.#waiting.delete(nonce)
    }
  }
}
