// Starts the program of the npm package.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { endWithoutOutput } from '../../packages/cli/src/terminal.ts'
import { storedAnswer } from '../bundle/answers.ts'
import { stateOf } from '../bundle/current.ts'
import { endProcess, readCache, runScript } from '../bundle/run-script.ts'

const LIB = import.meta.dirname

/** Never in a shared temporary folder, where other users could plant code. */
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'scanfarm')

const store = async (path: string, content: Buffer): Promise<void> => {
  await mkdir(CACHE, { recursive: true })
  await writeFile(`${path}.${process.pid}`, content)
  await rename(`${path}.${process.pid}`, path)
}

/** The first run stores the functions that it has compiled: half of the start of the others. */
const exec = async (): Promise<never> => {
  const path = join(CACHE, 'exec.cache')
  // Node does not notice that they are of another file of the same length.
  const mark = Buffer.from(`\n${stateOf(join(LIB, 'exec.js'))}`)
  const stored = readCache(path)
  const isOwn = stored?.subarray(-mark.length).equals(mark) === true
  const script = await runScript(LIB, isOwn ? stored.subarray(0, -mark.length) : undefined)
  if (script.cachedDataRejected !== false && process.exitCode === 0)
    await store(path, Buffer.concat([script.createCachedData(), mark])).catch(() => undefined)
  return await endProcess()
}

const answer = storedAnswer(process.argv.slice(2), () => LIB)
if (answer === undefined) {
  if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(CACHE)
  await (process.argv[2] === 'exec' ? exec() : import(join(LIB, 'main.js')))
} else {
  endWithoutOutput()
  process.stdout.write(answer)
}
