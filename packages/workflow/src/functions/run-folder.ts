import { constants, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import type { FunctionContext } from './define.ts'
import { isThere, makeFolder } from './files.ts'

/** Where a run may bring files from and to: its own folders. */
export const rootsOf = async ({ folders }: FunctionContext): Promise<string[]> => {
  const roots: string[] = []
  for (const root of [folders.output, folders.temp]) if (await isThere(root)) roots.push(await realpath(root))
  return roots
}

const isInside = (path: string, roots: readonly string[]): boolean =>
  roots.some((root) => path === root || path.startsWith(`${root}${sep}`))

/** The nearest folder above a path that is there. */
const existingAbove = async (path: string): Promise<string> => {
  const above = dirname(path)
  return above === path || (await isThere(above)) ? above : await existingAbove(above)
}

/**
 * Does work on a file of the run's folders that is about to be made. Commands may have put links anywhere and may swap
 * folders meanwhile: so the folder is held open, must really lie inside, and `work` gets a path through the open one.
 */
export const inRunFolder = async <Result>(
  path: string,
  at: FunctionContext,
  work: (path: string) => Promise<Result>,
): Promise<Result> => {
  const roots = await rootsOf(at)
  const refuse = (): never => {
    throw new Error(`${path} lies outside the run's folders`)
  }
  if (!isInside(await realpath(await existingAbove(path)), roots)) refuse()
  await makeFolder(dirname(path), at)
  const folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const held = `/proc/self/fd/${folder.fd}`
    if (!isInside(await readlink(held), roots)) refuse()
    return await work(join(held, basename(path)))
  } finally {
    await folder.close()
  }
}
