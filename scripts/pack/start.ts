// Starts the program of the npm package.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { scriptOf, type ScriptName } from '../../packages/cli/src/commands/client.ts'
import { endWithoutOutput } from '../../packages/cli/src/terminal.ts'
import { storedAnswer } from '../bundle/answers.ts'
import { stateOf } from '../bundle/current.ts'
import { cacheOf, endProcess, readCache, runScript } from '../bundle/run-script.ts'

const LIB = import.meta.dirname

/** Never in a shared temporary folder, where other users could plant code. */
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'scanfarm')

const store = async (path: string, content: Buffer): Promise<void> => {
  await mkdir(CACHE, { recursive: true })
  await writeFile(`${path}.${process.pid}`, content)
  await rename(`${path}.${process.pid}`, path)
}

/** The first run stores the functions that it has compiled: half of the start of the others. */
const run = async (name: ScriptName): Promise<never> => {
  const path = cacheOf(CACHE, name)
  // Node does not notice that they are of another file of the same length.
  const mark = Buffer.from(`\n${stateOf(join(LIB, `${name}.js`))}`)
  const stored = readCache(path)
  const isOwn = stored?.subarray(-mark.length).equals(mark) === true
  const script = await runScript(LIB, name, isOwn ? stored.subarray(0, -mark.length) : undefined)
  if (script.cachedDataRejected !== false && process.exitCode === 0)
    await store(path, Buffer.concat([script.createCachedData(), mark])).catch(() => undefined)
  return await endProcess()
}

const answer = storedAnswer(process.argv.slice(2), () => LIB)
if (answer === undefined) {
  if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(CACHE)
  const script = scriptOf(process.argv[2])
  await (script === undefined ? import(join(LIB, 'main.js')) : run(script))
} else {
  endWithoutOutput()
  process.stdout.write(answer)
}
