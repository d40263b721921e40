import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'

export interface SourceEntry {
  /** Unique in the source, `/`-separated, with extension: `modules/probe.yaml`. */
  readonly path: string
  /** Changes whenever the text does. */
  readonly version: string
  /** Bytes, where it costs nothing to know. */
  readonly size?: number
}

/** Where workflow files come from: a folder, memory, a table. */
export interface WorkflowSource {
  /** Shown to people, such as the folder's path. */
  readonly name: string
  list(): Promise<readonly SourceEntry[]>
  read(path: string): Promise<string>
}

/** Files that one folder may hold before it is surely the wrong folder. */
const MAX_FILES = 20_000

const isYaml = (name: string): boolean => /\.ya?ml$/i.test(name)

/** All YAML files below a folder, hidden ones and hidden folders aside. A folder that is not there is empty. */
export const folderSource = (folder: string): WorkflowSource => {
  const root = resolve(folder)
  const walk = async (at: string, into: SourceEntry[]): Promise<void> => {
    const items = await readdir(at, { withFileTypes: true }).catch(() => [])
    for (const item of items.sort((a, b) => a.name.localeCompare(b.name))) {
      if (item.name.startsWith('.') || item.name === 'node_modules') continue
      const path = join(at, item.name)
      if (item.isDirectory()) await walk(path, into)
      else if (isYaml(item.name) && into.length < MAX_FILES) {
        const facts = await stat(path).catch(() => undefined)
        if (facts?.isFile() !== true) continue
        const version = `${facts.mtimeMs}:${facts.size}:${facts.ino}`
        into.push({ path: relative(root, path).split(sep).join('/'), version, size: facts.size })
      }
    }
  }
  return {
    name: root,
    async list() {
      const found: SourceEntry[] = []
      await walk(root, found)
      return found
    },
    read: async (path) => await readFile(join(root, path), 'utf8'),
  }
}

/** Workflows that live nowhere but in this process. */
export const memorySource = (
  name: string,
): WorkflowSource & {
  put(path: string, text: string): void
  remove(path: string): void
} => {
  const texts = new Map<string, { text: string; version: number }>()
  let version = 0
  return {
    name,
    put(path, text) {
      texts.set(path, { text, version: ++version })
    },
    remove(path) {
      texts.delete(path)
    },
    list: async () => [...texts].map(([path, entry]) => ({ path, version: String(entry.version) })),
    read: async (path) => texts.get(path)?.text ?? '',
  }
}
