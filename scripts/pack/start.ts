// Starts the program of the npm package.
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { endWithoutOutput } from '../../packages/cli/src/terminal.ts'
import { storedAnswer } from '../bundle/answers.ts'

/** Never in a shared temporary folder, where other users could plant code. */
const cacheFolder = (): string => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'scanfarm')

const answer = storedAnswer(process.argv.slice(2), () => import.meta.dirname)
if (answer === undefined) {
  if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(cacheFolder())
  await import(join(import.meta.dirname, 'main.js'))
} else {
  endWithoutOutput()
  process.stdout.write(answer)
}
