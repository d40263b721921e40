import type { StopOptions } from '../interruption.ts'
import { killText, quote, sessionFunctions } from './session-script.ts'
import { newNonce, type ShellChannel } from './shell-session.ts'

const MOST_STDERR = 2_000

/** A shell next to the sessions that kills their commands. It runs no commands itself, so it is always free. */
export class ControlSession {
  /** Settles when the shell has ended. */
  readonly gone: Promise<void>
  readonly #channel: ShellChannel
  readonly #waiting = new Map<string, (answer: readonly string[] | undefined) => void>()
  #isGone = false
  #line = ''
  #stderr = ''

  /** `setup`: shell text that runs first. */
  constructor(channel: ShellChannel, setup = '') {
    this.#channel = channel
    channel.write(`${sessionFunctions()}\n${setup}\n`)
    this.gone = this.#pump()
  }

  get usable(): boolean {
    return !this.#isGone
  }

  /** Resolves when the shell answers; rejects with its stderr if it ends instead. */
  async ready(): Promise<void> {
    const answer = await this.#ask((nonce) => `echo ${quote(nonce)} ready\n`)
    if (answer === undefined) throw new Error(this.#stderr.trim() || 'the shell does not answer')
  }

  /**
   * Sends TERM or INT, waits, then sends KILL to all processes with the marker and to the leader's session. Resolves with
   * their pids when all are dead, with none if the shell has ended.
   */
  async kill(marker: string, leader: number, stop: Required<StopOptions>): Promise<number[]> {
    const answer = await this.#ask((nonce) => killText(nonce, marker, leader, stop))
    const pids = new Set(answer?.slice(1).map(Number))
    return [...pids].sort((a, b) => a - b)
  }

  /** Runs the shell text last. Resolves when the shell has ended. */
  async finish(text: string): Promise<void> {
    if (!this.#isGone) this.#channel.write(`${text}\n`)
    this.#channel.end()
    await this.gone
  }

  close(): void {
    this.#channel.close()
  }

  /** The words after the nonce on the line of the answer; undefined if the shell has ended. */
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
      for await (const { stream, bytes } of this.#channel.chunks) {
        if (stream === 'stdout') this.#receive(bytes.toString())
        else this.#stderr = (this.#stderr + bytes.toString()).slice(0, MOST_STDERR)
      }
    } catch {
      // The same as the end of the shell.
    } finally {
      this.#isGone = true
      this.#channel.close()
      for (const answer of this.#waiting.values()) answer(undefined)
      this.#waiting.clear()
    }
  }

  #receive(text: string): void {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) {
      const [nonce = '', ...words] = line.split(' ')
      this.#waiting.get(nonce)?.(words)
      this.#waiting.delete(nonce)
    }
  }
}
