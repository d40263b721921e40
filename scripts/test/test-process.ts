import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import type { TestResult } from '@jest/test-result'
import type { Config } from '@jest/types'

export interface TestFile {
  readonly path: string
  readonly globalConfig: Config.GlobalConfig
  readonly projectConfig: Config.ProjectConfig
}

/** What the process sends. */
export type FromProcess =
  | { readonly kind: 'began'; readonly what: string; readonly limitMs: number }
  | { readonly kind: 'waits'; readonly lines: readonly string[] }
  | { readonly kind: 'result'; readonly result: TestResult }

/** A process whose tests have ended and that still runs after this time has left something open. */
const LINGER_MS = 5_000
/** Environment variable: maximum number of files that a process runs. What they leave behind, such as compiled code, adds up. */
export const FILES_PER_PROCESS = 'SCANFARM_TEST_FILES_PER_PROCESS'
const DEFAULT_FILES = 20
/** Time beyond the limit of a test or hook after which its process counts as blocked. */
const BLOCKED_MS = 5_000
/** Time that a process has to report what it waits for before it is killed. */
const REPORT_MS = 5_000

/** A result, or the reason why there is none. */
type Outcome =
  | { readonly result: TestResult; readonly problem?: undefined }
  | { readonly result?: undefined; readonly problem: string }

/** A process that runs test files, one after the other. */
export class TestProcess {
  readonly #child: ChildProcess
  readonly #files: string[] = []
  readonly #mostFiles: number
  #outcome = Promise.withResolvers<Outcome>()
  #doing = ''
  #overdue: NodeJS.Timeout | undefined
  #stopped: string | undefined
  #waits: readonly string[] = ['its event loop is busy or blocked']

  constructor(env: NodeJS.ProcessEnv) {
    this.#mostFiles = Number(env[FILES_PER_PROCESS] ?? DEFAULT_FILES)
    this.#child = fork(new URL('file-process.ts', import.meta.url), {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    this.#child.on('message', (message: FromProcess) => this.#receive(message))
    this.#child.on('exit', (code, signal) => {
      clearTimeout(this.#overdue)
      const end = `the process of this file ended with ${signal ?? `code ${code}`} before its result`
      const lines = this.#stopped === undefined ? [end] : [this.#stopped, ...this.#waits]
      this.#outcome.resolve({ problem: lines.join('\n  ') })
    })
  }

  get isUsable(): boolean {
    return this.#child.connected && this.#stopped === undefined && this.#files.length < this.#mostFiles
  }

  async run(file: TestFile): Promise<Outcome> {
    this.#files.push(relative('.', file.path))
    this.#outcome = Promise.withResolvers()
    this.#doing = 'its import'
    this.#child.send(file)
    this.#expect(file.projectConfig.testTimeout)
    return await this.#outcome.promise
  }

  /** Kills the process after it has reported what it waits for. */
  stop(reason: string): void {
    this.#stopped ??= `${reason} during ${this.#doing}`
    this.#child.send('report', () => undefined)
    setTimeout(() => this.#child.kill('SIGKILL'), REPORT_MS).unref()
  }

  /** Waits until the process ends, and kills it if it does not. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    if (this.#child.connected) this.#child.disconnect()
    const timer = setTimeout(() => {
      console.error(`A process does not end. One of its files left something open: ${this.#files.join(', ')}`)
      this.#child.kill('SIGKILL')
    }, LINGER_MS)
    await once(this.#child, 'exit')
    clearTimeout(timer)
  }

  #receive(message: FromProcess): void {
    if (message.kind === 'began') {
      this.#doing = message.what
      this.#expect(message.limitMs)
    }
    if (message.kind === 'waits') {
      this.#waits = message.lines
      this.#child.kill('SIGKILL')
    }
    if (message.kind === 'result') {
      clearTimeout(this.#overdue)
      this.#outcome.resolve({ result: message.result })
    }
  }

  /** What began ends by its time limit, and another test or hook begins or the result follows. */
  #expect(limitMs: number): void {
    clearTimeout(this.#overdue)
    this.#overdue = setTimeout(
      () => this.stop('the process of this file does not answer'),
      limitMs + BLOCKED_MS,
    )
  }
}
