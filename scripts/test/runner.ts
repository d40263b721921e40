import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import type { SerializableError, Test, TestResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import type { CallbackTestRunnerInterface, OnTestFailure, OnTestStart, OnTestSuccess } from 'jest-runner'
import type { TestWatcher } from 'jest-watcher'
import { neededEngines, openEngines } from '../services/engines.ts'
import type { TestFile } from './file-process.ts'
import { longFirst, planned, shuffled, type PlannedTest } from './order.ts'

/** A process whose tests have ended and that still runs after this time has left something open. */
const LINGER_MS = 5_000
/** What the files of a process leave behind, such as compiled code, adds up. */
const MAX_FILES = 20

interface Listeners {
  readonly started: OnTestStart
  readonly succeeded: OnTestSuccess
  readonly failed: OnTestFailure
}

/**
 * Runs test files in a few processes, each one file after the other, with Node's module loader instead of Jest's: the
 * modules that files share are loaded once for each process, not once for each file. `npm run test:each` runs each file
 * in a process of its own.
 */
export default class ProcessRunner implements CallbackTestRunnerInterface {
  readonly #config: Config.GlobalConfig
  readonly #running = new Set<ChildProcess>()

  constructor(config: Config.GlobalConfig) {
    this.#config = config
  }

  async runTests(
    tests: Test[],
    watcher: TestWatcher,
    started: OnTestStart,
    succeeded: OnTestSuccess,
    failed: OnTestFailure,
  ): Promise<void> {
    using scope = new DisposableStack()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const stop = (): void => this.#stop(watcher)
      process.on(signal, stop)
      scope.defer(() => process.off(signal, stop))
    }
    await using engines = await openEngines(neededEngines(tests.map(({ path }) => path)))
    const env = { ...process.env, ...engines.env }
    const listeners = { started, succeeded, failed }
    const { randomize, seed, maxWorkers } = this.#config
    const waiting = randomize === true ? shuffled(tests, seed).map(planned) : longFirst(tests.map(planned))
    const alone = waiting.filter(({ exclusive }) => exclusive === 'machine')
    const others = waiting.filter(({ exclusive }) => exclusive !== 'machine')
    const held = new Set<string>()
    const work = async (queue: PlannedTest[]): Promise<void> => {
      let shared: TestProcess | undefined
      for (;;) {
        const at = queue.findIndex(({ exclusive }) => exclusive === undefined || !held.has(exclusive))
        const [next] = at < 0 || watcher.isInterrupted() ? [] : queue.splice(at, 1)
        // What is left has to wait for a file that another worker runs: that worker takes it.
        if (next === undefined) break
        if (next.exclusive !== undefined) held.add(next.exclusive)
        if (shared?.isUsable === false) {
          await shared.end()
          shared = undefined
        }
        shared ??= this.#start(env)
        await this.#runOne(next.test, shared, listeners)
        if (next.exclusive !== undefined) held.delete(next.exclusive)
      }
      await shared?.end()
    }
    await Promise.all(Array.from({ length: maxWorkers }, () => work(others)))
    for (const one of alone) await work([one])
  }

  #stop(watcher: TestWatcher): void {
    void watcher.setState({ interrupted: true })
    for (const child of this.#running) child.kill('SIGKILL')
  }

  #start(env: NodeJS.ProcessEnv): TestProcess {
    const child = fork(new URL('file-process.ts', import.meta.url), {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    this.#running.add(child)
    child.once('exit', () => this.#running.delete(child))
    return new TestProcess(child)
  }

  async #runOne(test: Test, shared: TestProcess, { started, succeeded, failed }: Listeners): Promise<void> {
    await started(test)
    const answer = await shared.run({
      path: test.path,
      // Shuffles files only: the tests of a file may build on each other.
      globalConfig: { ...this.#config, randomize: false },
      projectConfig: test.context.config,
    })
    await (answer.result === undefined ? failed(test, answer.error) : succeeded(test, answer.result))
  }
}

type Answer =
  | { readonly result: TestResult; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: SerializableError }

/** Runs test files, one after the other. */
class TestProcess {
  readonly #child: ChildProcess
  readonly #files: string[] = []

  constructor(child: ChildProcess) {
    this.#child = child
  }

  get isUsable(): boolean {
    return this.#child.connected && this.#files.length < MAX_FILES
  }

  async run(file: TestFile): Promise<Answer> {
    this.#files.push(relative('.', file.path))
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const answered = (result: unknown): void => resolve({ result: result as TestResult })
    const exited = (code: number | null, signal: string | null): void => {
      const message = `the process of this file ended with ${signal ?? `code ${code}`} before its result`
      resolve({ error: { code: undefined, message, stack: message, type: 'Error' } })
    }
    this.#child.on('message', answered).on('exit', exited)
    this.#child.send(file)
    try {
      return await promise
    } finally {
      this.#child.off('message', answered).off('exit', exited)
    }
  }

  /** Waits until the process has ended by itself, or ends it. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.disconnect()
    const timer = setTimeout(() => {
      console.error(`a process does not end, one of its files left something open: ${this.#files.join(', ')}`)
      this.#child.kill('SIGKILL')
    }, LINGER_MS)
    await once(this.#child, 'exit')
    clearTimeout(timer)
  }
}
