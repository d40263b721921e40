// `npm run test:pack [-- ARGUMENTS OF JEST]`: builds the npm package and tries it as its user.
import { join } from 'node:path'
import { runJest } from '../test/jest.ts'

const root = join(import.meta.dirname, '../..')
const passed = await runJest(root, ['--config', 'scripts/pack/jest.config.js', ...process.argv.slice(2)])
process.exitCode = passed ? 0 : 1
