import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Contains a folder for each bundle, and the file `current` with the name of the newest. */
export const bundlesOf = (root: string): string => join(root, '.cache/bundle')

/** The source files of a bundle by path below the root, with their states. Empty: the sources do not change. */
export type BundleSources = readonly (readonly [path: string, state: string])[]

/** A file that changed this recently may change again without a new time. */
const UNSETTLED_MS = 100

/** Changes with the content of a file. Undefined: the file may be changing. */
export const stateOf = (path: string): string | undefined => {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) return 'missing'
  if (Math.abs(Date.now() - facts.ctimeMs) < UNSETTLED_MS) return undefined
  return `${facts.ino}:${facts.size}:${facts.mtimeMs}:${facts.ctimeMs}`
}

/** Those that a script can load. */
export const sourcesOf = (script: string): string => `${script}-sources.json`

/** The folder of the newest bundle, if its sources, or those in `list`, have not changed since. */
export const currentBundle = (root: string, list = 'sources.json'): string | undefined => {
  try {
    const folder = join(bundlesOf(root), readFileSync(join(bundlesOf(root), 'current'), 'utf8').trim())
    const sources = JSON.parse(readFileSync(join(folder, list), 'utf8')) as BundleSources
    return sources.every(([path, state]) => stateOf(`${root}/${path}`) === state) ? folder : undefined
  } catch {
    return undefined
  }
}
