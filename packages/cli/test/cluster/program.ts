import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until as waitUntil } from '@scanfarm/testing'

/** Waits until `condition` returns a value other than undefined or false. Errors are ignored: programs may be starting. */
export const until = <T>(what: string, condition: () => T | Promise<T>, limitMs = 120_000) =>
  waitUntil(condition, { what, limitMs, despiteErrors: true })

/** The program from this checkout. */
export const PROGRAM = join(import.meta.dirname, '../../../../scripts/scanfarm')
const LOG_TAIL = 4_000
const STOP_MS = 40_000

export interface ProgramEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process of the scanfarm program. Disposing stops it in order, or kills it if that takes too long. */
export class Program implements AsyncDisposable {
  readonly name: string
  readonly ended: Promise<ProgramEnd>
  readonly #child: ChildProcess
  readonly #log: string

  constructor(
    name: string,
    args: readonly string[],
    options: { folder: string; path?: string | undefined; env: Readonly<Record<string, string>> },
  ) {
    this.name = name
    this.#log = join(options.folder, `${name}.log`)
    const log = openSync(this.#log, 'a')
    // The tests set the whole environment: the settings of the developer must not take effect.
    const { PATH = '', HOME = '/', TMPDIR = '/tmp' } = process.env
    this.#child = spawn(options.path ?? PROGRAM, [...args], {
      stdio: ['ignore', log, log],
      env: { PATH, HOME, TMPDIR, ...options.env },
    })
    closeSync(log)
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }))
      this.#child.once('error', reject)
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Sends SIGKILL and waits for the end. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended
  }

  /** Sends SIGTERM and waits for the end. */
  async stop(): Promise<ProgramEnd> {
    this.signal('SIGTERM')
    return this.ended
  }

  get log(): string {
    return readFileSync(this.#log, 'utf8')
  }

  /** Waits until `ready` returns a value. Fails at once, with the end of the log, if the program ends. */
  async until<T>(what: string, ready: () => Promise<T | undefined | false>, limitMs = 180_000): Promise<T> {
    const answer = await until(
      `${this.name} ${what}`,
      async () => (this.running ? ready() : ('ended' as const)),
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${this.name} never ${what}; its log ends with:\n${this.log.slice(-LOG_TAIL)}`, {
        cause: error,
      })
    })
    if (answer === 'ended')
      throw new Error(
        `${this.name} ended before it ${what}; its log ends with:\n${this.log.slice(-LOG_TAIL)}`,
      )
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.running) return
    this.signal('SIGCONT')
    this.signal('SIGTERM')
    const timer = setTimeout(() => this.signal('SIGKILL'), STOP_MS)
    await this.ended
    clearTimeout(timer)
  }
}
