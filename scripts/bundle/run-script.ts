import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'
import type { CacheName, ScriptName } from '../../packages/cli/src/commands/client.ts'

export const readCache = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

export const cacheOf = (bundle: string, name: CacheName): string => join(bundle, `${name}.cache`)

/**
 * Reads a script of a bundle; `run` runs a command. Its cache contains the compiled functions that commands call, unlike the
 * compile cache of Node, which contains none that are called later: compiling them is half of the start.
 */
export const readScript = (bundle: string, name: ScriptName, cachedData?: Buffer) => {
  const filename = join(bundle, `${name}.js`)
  const script = new Script(readFileSync(filename, 'latin1'), {
    filename,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const run = async (): Promise<void> => {
    const main = script.runInThisContext() as (url: string, require: NodeJS.Require) => Promise<void>
    await main(pathToFileURL(filename).href, createRequire(filename))
  }
  return { script, run }
}

/** Ends the process when its output is written. Otherwise the whole heap is released first. */
export const endProcess = async (): Promise<never> => {
  for (const stream of [process.stdout, process.stderr])
    await new Promise((resolve) => void stream.write('', resolve))
  process.exit()
}
