import { glob } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { namesIn } from './files.ts'
import { hold, type RunPlace } from './hold.ts'
import { refuseLinkOut } from './run-folder.ts'

/** The folders of a pattern before its first part that is none. */
const plainPart = (pattern: string): string => {
  const parts = pattern.split('/')
  const first = parts.findIndex((part) => /[*?[{!()+@]/.test(part))
  return parts.slice(0, first < 0 ? -1 : first).join('/') || '/'
}

/** Folders whose names are kept while paths are looked at. */
const MAX_KEPT = 1000

/** Paths that match. In the run's folders none that a link brings there from elsewhere. */
export const matchingPaths = async function* (pattern: string, place: RunPlace): AsyncGenerator<string> {
  await refuseLinkOut(join(plainPart(pattern), 'entry'), place)
  const kept = new Map<string, ReadonlySet<string> | undefined>()
  // Looking for paths goes through links, and folders may be swapped meanwhile: what really is there decides.
  for await (const path of glob(pattern)) {
    const folder = dirname(resolve(path))
    if (!kept.has(folder)) {
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(folder, await trustedNames(folder, place))
    }
    const names = kept.get(folder)
    if (names === undefined || names.has(basename(path))) yield path
  }
}

/** The names in a folder of the run, none when a link leads out to it; nothing when the folder lies elsewhere. */
const trustedNames = async (folder: string, place: RunPlace): Promise<ReadonlySet<string> | undefined> => {
  const held = await hold(join(folder, 'entry'), place, { lastLink: 'keep' }).catch(() => undefined)
  if (held === undefined) return new Set()
  await held[Symbol.asyncDispose]()
  return held.inside ? new Set(await namesIn(folder, place).catch(() => [])) : undefined
}
