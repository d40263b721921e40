import { relative } from 'node:path'
import type { Test } from '@jest/test-result'
import type { Config } from '@jest/types'
import type { CallbackTestRunnerInterface, OnTestFailure, OnTestStart, OnTestSuccess } from 'jest-runner'
import type { TestWatcher } from 'jest-watcher'
import { neededEngines, openEngines } from '../services/engines.ts'
import { longFirst, planned, shuffled, type PlannedTest } from './order.ts'
import { TestProcess } from './test-process.ts'

interface Listeners {
  readonly watcher: TestWatcher
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
  readonly #running = new Set<TestProcess>()

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
    const listeners = { watcher, started, succeeded, failed }
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
        shared ??= new TestProcess(env)
        this.#running.add(shared)
        await this.#runOne(next.test, shared, listeners)
        this.#running.delete(shared)
        if (next.exclusive !== undefined) held.delete(next.exclusive)
      }
      await shared?.end()
    }
    await Promise.all(Array.from({ length: maxWorkers }, () => work(others)))
    for (const one of alone) await work([one])
  }

  #stop(watcher: TestWatcher): void {
    void watcher.setState({ interrupted: true })
    for (const one of this.#running) one.stop('interrupted')
  }

  async #runOne(
    test: Test,
    shared: TestProcess,
    { watcher, started, succeeded, failed }: Listeners,
  ): Promise<void> {
    await started(test)
    // Shuffles files only: the tests of a file may build on each other.
    const globalConfig = { ...this.#config, randomize: false }
    const file = { path: test.path, globalConfig, projectConfig: test.context.config }
    const { result, problem } = await shared.run(file)
    // Jest ignores failures after an interruption.
    if (problem !== undefined && watcher.isInterrupted())
      console.error(`${relative('.', test.path)}: ${problem}`)
    if (result !== undefined) await succeeded(test, result)
    else await failed(test, { code: undefined, message: problem, stack: problem, type: 'Error' })
  }
}
