// Starts the program of the npm package.
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../packages/cli/package.json' with { type: 'json' }
import { endWithoutOutput } from '../../packages/cli/src/terminal.ts'

/** Never in a shared temporary folder, where other users could plant code. */
const cacheFolder = (): string => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'scanfarm')

const [, , option, ...more] = process.argv
if (more.length === 0 && (option === '--version' || option === '-V')) {
  endWithoutOutput()
  process.stdout.write(`${packageJson.version}\n`)
} else {
  if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(cacheFolder())
  await import(join(import.meta.dirname, 'main.js'))
}
