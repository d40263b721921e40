// Runs one test file in a process of its own, with Node's module loader. The runner sends the file, this sends the result.
import { once } from 'node:events'
import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { TestResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import { reportTimeouts } from './report-timeouts.ts'

export interface TestFile {
  readonly path: string
  readonly globalConfig: Config.GlobalConfig
  readonly projectConfig: Config.ProjectConfig
}

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

const run = async ({ path, globalConfig, projectConfig }: TestFile): Promise<TestResult> => {
  const start = Date.now()
  const environment = { global: globalThis, handleTestEvent: reportTimeouts(path) }
  const result = await runFile(globalConfig, projectConfig, environment, runtime, path)
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

const [file] = (await once(process, 'message')) as [TestFile]
const result = await run(file)
process.send?.(result, () => process.disconnect())
