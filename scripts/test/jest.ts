import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Something that a test left open keeps Jest from ending: it is stopped this long after its results are there. */
const LINGER_MS = 60_000
const LOOK_MS = 1_000

export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

interface JestResult {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly numRuntimeErrorTestSuites: number
}

/** A file of tests that could not even be loaded counts as one failure. No result: Jest itself broke. */
export const countTests = (resultFile: string): TestCounts => {
  if (!existsSync(resultFile)) return { passed: 0, failed: 1, skipped: 0 }
  const result = JSON.parse(readFileSync(resultFile, 'utf8')) as JestResult
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    skipped: result.numPendingTests + result.numTodoTests,
  }
}

const JEST_ARGS = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
]

export interface JestOptions {
  readonly root: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly resultFile: string
}

/** Runs Jest with its output on this terminal; `false` when it failed, broke or did not end by itself. */
export const runJest = async ({ root, args, env, resultFile }: JestOptions): Promise<boolean> => {
  const jest = spawn(process.execPath, [...JEST_ARGS, '--json', `--outputFile=${resultFile}`, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['inherit', 'ignore', 'inherit'],
  })
  const pass = (signal: NodeJS.Signals) => jest.kill(signal)
  process.on('SIGTERM', pass)
  // A Ctrl-C reaches Jest from the terminal; this program only has to outlive it, to stop what it started.
  process.on('SIGINT', () => undefined)
  const lingering = watchForLingering(resultFile, () => jest.kill('SIGKILL'))
  const [code] = (await once(jest, 'exit')) as [number | null]
  lingering.stop()
  process.off('SIGTERM', pass)
  return code === 0
}

const watchForLingering = (resultFile: string, kill: () => void): { stop: () => void } => {
  let seenAt: number | undefined
  const timer = setInterval(() => {
    if (seenAt === undefined && existsSync(resultFile)) seenAt = performance.now()
    if (seenAt === undefined || performance.now() - seenAt < LINGER_MS) return
    console.error(
      'Jest does not end: a test left something open (find it with --detectOpenHandles); stopping it',
    )
    kill()
  }, LOOK_MS)
  return { stop: () => clearInterval(timer) }
}

export const resultPath = (folder: string): string => join(folder, 'result.json')
