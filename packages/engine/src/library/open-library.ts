import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { FUNCTIONS } from '@scanfarm/functions'
import {
  type WorkflowLibrary,
  checkFile,
  openSources,
  type CheckedFile,
  type LibraryOptions,
  type SourceEntry,
  type SourceFile,
  type WorkflowSource,
} from '@scanfarm/language'

/** Maximum number of files; a folder with more is probably the wrong one. */
const MAX_FILES = 20_000

const isYaml = (name: string): boolean => /\.ya?ml$/i.test(name)

/** The folder `NAME.test` beside a workflow `NAME.yaml` has its cases. */
const hasCases = (folder: string, names: ReadonlySet<string>): boolean =>
  folder.endsWith('.test') && ['.yaml', '.yml'].some((end) => names.has(folder.replace(/\.test$/, end)))

/** All YAML files below a folder, except hidden files and folders and cases. A missing folder counts as empty. */
export const folderSource = (folder: string): WorkflowSource => {
  const root = resolve(folder)
  const walk = async (at: string, into: SourceEntry[]): Promise<void> => {
    const items = await readdir(at, { withFileTypes: true }).catch(() => [])
    const names = new Set(items.map(({ name }) => name))
    for (const item of items.sort((a, b) => a.name.localeCompare(b.name))) {
      if (item.name.startsWith('.') || item.name === 'node_modules') continue
      const path = join(at, item.name)
      if (item.isDirectory()) {
        if (!hasCases(item.name, names)) await walk(path, into)
      } else if (isYaml(item.name) && into.length < MAX_FILES) {
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

/** Checks a file against the function library. */
export const checkSource = (file: SourceFile): CheckedFile => checkFile(file, FUNCTIONS)

/** Opens the workflows of some folders, which precede other sources. `check` runs on the caller's thread. */
export const openLibrary = async (
  folders: readonly string[],
  { sources = [], check = checkSource, ...options }: Partial<LibraryOptions> = {},
): Promise<WorkflowLibrary> =>
  await openSources({ ...options, check, sources: [...folders.map(folderSource), ...sources] })
