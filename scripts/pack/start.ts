// Starts the program of the npm package.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { scriptOf } from '../../packages/cli/src/commands/client.ts'
import { endWithoutOutput } from '../../packages/cli/src/terminal.ts'
import { storedAnswer } from '../bundle/answers.ts'
import { stateOf } from '../bundle/current.ts'
import { cacheOf, endProcess, readCache, readScript } from '../bundle/run-script.ts'

const LIB = import.meta.dirname

/** Never in a shared temporary folder, where other users could plant code. */
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'scanfarm')

const store = async (path: string, content: Buffer): Promise<void> => {
  await mkdir(CACHE, { recursive: true })
  await writeFile(`${path}.${process.pid}`, content)
  await rename(`${path}.${process.pid}`, path)
}

/** A worker or a server has started by then. */
const STARTED_MS = 5_000

/** The first run stores the functions that it has compiled: half of the start of the others. */
const start = async (): Promise<void> => {
  const { script: name, cache } = scriptOf(process.argv[2])
  if (name === 'main') enableCompileCache(CACHE)
  const path = cacheOf(CACHE, cache)
  // Node does not notice that they are of another file of the same length.
  const mark = Buffer.from(`\n${stateOf(join(LIB, `${name}.js`))}`)
  const stored = readCache(path)
  const isOwn = stored?.subarray(-mark.length).equals(mark) === true
  const { script, run } = readScript(LIB, name, isOwn ? stored.subarray(0, -mark.length) : undefined)
  const keep = async (): Promise<void> => {
    if (script.cachedDataRejected !== false)
      await store(path, Buffer.concat([script.createCachedData(), mark])).catch(() => undefined)
  }
  setTimeout(() => void keep(), STARTED_MS).unref()
  await run()
  if (process.exitCode === 0) await keep()
  if (name !== 'main') await endProcess()
}

const answer = storedAnswer(process.argv.slice(2), () => LIB)
if (answer === undefined) await start()
else {
  endWithoutOutput()
  process.stdout.write(answer)
}
