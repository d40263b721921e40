// Runs test files, one after the other, with Node's module loader. The runner sends each file, this sends its result.
import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { TestResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import type { FromProcess, TestFile } from './test-process.ts'
import { describeWaiting, watchTests } from './watch-tests.ts'

type RunFile = (
  globalConfig: Config.GlobalConfig,
  projectConfig: Config.ProjectConfig,
  environment: object,
  runtime: object,
  path: string,
) => Promise<TestResult>

const require = createRequire(import.meta.url)
const { default: runFile } = require('jest-circus/runner') as { default: RunFile }

const GLOBALS = new URL('globals.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : next(specifier, context),
})

/** The part of Jest's module loader that its test framework asks for. */
const runtime = {
  requireInternalModule: require,
  requireModule: require,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path: string): Promise<unknown> => import(pathToFileURL(path).href),
  setGlobalsForRuntime: () => {},
  enterTestCode: () => {},
  leaveTestCode: () => {},
}

const send = (message: FromProcess): void => void process.send?.(message)

/** The framework keeps its state in a module, which ends with the file. */
const forgetFramework = (): void => {
  for (const path of Object.keys(require.cache))
    if (path.includes('/jest-circus/')) delete require.cache[path]
  for (const name of ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'])
    Reflect.deleteProperty(globalThis, Symbol.for(name))
}

const run = async ({ path, globalConfig, projectConfig }: TestFile): Promise<TestResult> => {
  const start = Date.now()
  const env = { ...process.env }
  const environment = { global: globalThis, handleTestEvent: watchTests(path, send) }
  const result = await runFile(globalConfig, projectConfig, environment, runtime, path)
  forgetFramework()
  for (const name of Object.keys(process.env)) if (!(name in env)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, env)
  const end = Date.now()
  const slow = end - start > projectConfig.slowTestThreshold * 1_000
  return {
    ...result,
    perfStats: { ...result.perfStats, start, end, runtime: end - start, slow },
    skipped: result.testResults.length === result.numPendingTests,
    // The errors themselves may hold what cannot be sent; their texts are in `failureMessages`.
    testResults: result.testResults.map((one) => ({ ...one, failureDetails: [] })),
  }
}

process.on('message', (message: TestFile | 'report') => {
  if (message === 'report') return send({ kind: 'waits', lines: describeWaiting() })
  // The channel must not keep a process alive whose tests wait for nothing.
  process.channel?.unref()
  void run(message).then(
    (result) => {
      process.channel?.ref()
      send({ kind: 'result', result })
    },
    // The framework hides unhandled rejections. An import that fails is one.
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
