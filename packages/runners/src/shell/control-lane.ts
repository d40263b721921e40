import { killText, laneFunctions } from './lane-script.ts'
import { newNonce, type ShellChannel } from './lane.ts'
import { quote } from './quote.ts'

const MOST_COMPLAINT = 2_000

/** A shell beside the lanes, always free, that kills what runs in them. */
export class ControlLane {
  /** Settles when it can kill no more. */
  readonly gone: Promise<void>
  readonly #channel: ShellChannel
  readonly #waiting = new Map<string, (words: readonly string[] | undefined) => void>()
  #isGone = false
  #line = ''
  #complaint = ''

  /** `lastWords`: shell text that runs when the channel ends, whoever ended it. */
  constructor(channel: ShellChannel, lastWords = '') {
    this.#channel = channel
    channel.write(`${laneFunctions()}\n${lastWords}\n`)
    this.gone = this.#pump()
  }

  get usable(): boolean {
    return !this.#isGone
  }

  /** Resolves when the shell is there; rejects with what was said instead. */
  async ready(): Promise<void> {
    const answer = await this.#ask((nonce) => `echo ${quote(nonce)} here\n`)
    if (answer === undefined) throw new Error(this.#complaint.trim() || 'no shell answers')
  }

  /**
   * TERM, grace, KILL to all that carry the marker and to the leader's session; resolves with their pids when all are
   * dead, with none when the way there is gone.
   */
  async kill(marker: string, leader: number, graceMs: number): Promise<number[]> {
    const answer = await this.#ask((nonce) => killText(nonce, marker, leader, graceMs))
    const pids = new Set(answer?.slice(1).map(Number))
    return [...pids].sort((a, b) => a - b)
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

  /** The words behind the nonce on the line that answers; none when the shell is gone. */
  async #ask(text: (nonce: string) => string): Promise<readonly string[] | undefined> {
    if (this.#isGone) return undefined
    const nonce = newNonce()
    const { promise, resolve } = Promise.withResolvers<readonly string[] | undefined>()
    this.#waiting.set(nonce, resolve)
    this.#channel.write(text(nonce))
    return await promise
  }

  async #pump(): Promise<void> {
    try {
      for await (const { stream, bytes } of this.#channel.pieces) {
        if (stream === 'stdout') this.#hear(bytes.toString())
        else this.#complaint = (this.#complaint + bytes.toString()).slice(0, MOST_COMPLAINT)
      }
    } catch {
      // The same as its end: nobody can be killed from here any more.
    } finally {
      this.#isGone = true
      this.#channel.close()
      for (const answer of this.#waiting.values()) answer(undefined)
      this.#waiting.clear()
    }
  }

  #hear(text: string): void {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) {
      const [nonce = '', ...words] = line.split(' ')
      this.#waiting.get(nonce)?.(words)
      this.#waiting.delete(nonce)
    }
  }
}
