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

interface Listeners {
  readonly started: OnTestStart
  readonly succeeded: OnTestSuccess
  readonly failed: OnTestFailure
}

/**
 * Runs each test file in a process of its own, with Node's module loader instead of Jest's: no file sees the state of
 * another, and Node caches the compiled modules.
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
      for (;;) {
        const at = queue.findIndex(({ exclusive }) => exclusive === undefined || !held.has(exclusive))
        const [next] = at < 0 || watcher.isInterrupted() ? [] : queue.splice(at, 1)
        // What is left has to wait for a file that another worker runs: that worker takes it.
        if (next === undefined) return
        if (next.exclusive !== undefined) held.add(next.exclusive)
        await this.#runOne(next.test, env, listeners)
        if (next.exclusive !== undefined) held.delete(next.exclusive)
      }
    }
    await Promise.all(Array.from({ length: maxWorkers }, () => work(others)))
    await work(alone)
  }

  #stop(watcher: TestWatcher): void {
    void watcher.setState({ interrupted: true })
    for (const child of this.#running) child.kill('SIGKILL')
  }

  async #runOne(
    test: Test,
    env: NodeJS.ProcessEnv,
    { started, succeeded, failed }: Listeners,
  ): Promise<void> {
    await started(test)
    const child = fork(new URL('file-process.ts', import.meta.url), {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    this.#running.add(child)
    child.send({
      path: test.path,
      // Shuffles files only: the tests of a file may build on each other.
      globalConfig: { ...this.#config, randomize: false },
      projectConfig: test.context.config,
    } satisfies TestFile)
    const answer = await answerOf(child)
    await (answer.result === undefined ? failed(test, answer.error) : succeeded(test, answer.result))
    await ended(child, test)
    this.#running.delete(child)
  }
}

type Answer =
  | { readonly result: TestResult; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: SerializableError }

const answerOf = async (child: ChildProcess): Promise<Answer> => {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  child.on('message', (result) => resolve({ result: result as TestResult }))
  child.on('exit', (code, signal) => {
    const message = `the process of this file ended with ${signal ?? `code ${code}`} before its result`
    resolve({ error: { code: undefined, message, stack: message, type: 'Error' } })
  })
  return promise
}

const ended = async (child: ChildProcess, { path }: Test): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const timer = setTimeout(() => {
    console.error(`${relative('.', path)}: does not end, its tests left something open; stopping it`)
    child.kill('SIGKILL')
  }, LINGER_MS)
  await once(child, 'exit')
  clearTimeout(timer)
}
