// npm test [-- ARGUMENTS OF JEST]: runs tests; the runner starts the engines that they need.
import { join } from 'node:path'
import { runJest } from './jest.ts'

process.exitCode = (await runJest(join(import.meta.dirname, '../..'), process.argv.slice(2))) ? 0 : 1
