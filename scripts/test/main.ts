// npm test [-- ARGUMENTS OF JEST]: starts the engines that tests need, runs them, stops what it started.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { neededEngines, openEngines } from '../services/engines.ts'
import { countTests, resultPath, runJest } from './jest.ts'

const root = join(import.meta.dirname, '../..')

const test = async (folder: string): Promise<boolean> => {
  await using engines = await openEngines(neededEngines(root))
  return await runJest({
    root,
    args: process.argv.slice(2),
    env: engines.env,
    resultFile: resultPath(folder),
  })
}

const folder = await mkdtemp(join(tmpdir(), 'scanfarm-test-'))
let passedAll = false
try {
  passedAll = await test(folder)
} catch (error) {
  console.error(`\nthe tests cannot run: ${error instanceof Error ? error.message : String(error)}\n`)
}
const { passed, failed, skipped } = countTests(resultPath(folder))
await rm(folder, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = passedAll && failed === 0 ? 0 : 1
