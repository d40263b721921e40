import { randomUUID } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { codeOf, unless, withPath } from './errors.ts'
import { Folder, type Name } from './path-handle.ts'

/** Called before a folder is emptied; throws if it must not be changed. */
export type BeforeEmptying = (folder: Folder) => void

/** Each level holds two descriptors. Deeper folders are moved to the top first. */
const MAX_DEPTH = 64
/** Another program may change the type of an entry, or add entries, while it is removed. */
const TRIES = 100

/** Removes a file, a link, or a folder with its content. Does nothing if it does not exist. */
export const removeTree = async (
  parent: Folder,
  name: Name,
  before: BeforeEmptying = () => {},
): Promise<void> => {
  await new Removal(before).remove(parent, name, 0)
}

/** As `removeTree`, by the path of the folder. Only for paths that no command can change. */
export const removeFolderAt = async (path: string, before?: BeforeEmptying): Promise<void> => {
  try {
    using parent = Folder.at(dirname(path))
    await removeTree(parent, basename(path), before)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw withPath(error, path)
  }
}

class Removal {
  readonly #before: BeforeEmptying
  /** The first folder, which takes up folders that are too deep. */
  #top: Folder | undefined
  #moved = false

  constructor(before: BeforeEmptying) {
    this.#before = before
  }

  async remove(parent: Folder, name: Name, depth: number): Promise<void> {
    for (let tries = 1; ; tries++) {
      const problem = await parent.unlink(name).then(() => undefined, unless(['ENOENT', 'EISDIR'], codeOf))
      if (problem !== 'EISDIR') return
      try {
        using folder = parent.folder(name)
        // Otherwise it has just become a link or a file.
        if (folder !== undefined) return await this.#removeFolder(parent, name, folder, depth)
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return
        if (!['ENOTDIR', 'ENOTEMPTY'].includes(codeOf(error)) || tries >= TRIES) throw error
      }
    }
  }

  async #removeFolder(parent: Folder, name: Name, folder: Folder, depth: number): Promise<void> {
    const top = (this.#top ??= folder)
    if (depth >= MAX_DEPTH) {
      this.#moved = true
      return await parent.rename(name, top, randomUUID())
    }
    this.#before(folder)
    do {
      this.#moved &&= folder !== top
      for await (const entry of folder.eachName()) await this.remove(folder, entry, depth + 1)
    } while (folder === top && this.#moved)
    await parent.rmdir(name)
  }
}
