import { readFile, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { WorkflowKind } from '@scanfarm/contracts'
import { READ_LIMITS } from '../limits.ts'
import { brokenEntry, checkFile, openLibrary, type WorkflowEntry, type WorkflowLibrary } from './library.ts'

export interface FileLibraryOptions {
  /** Folders that are searched for what is not found around the file. */
  readonly folders: readonly string[]
  /** The caller's folder. */
  readonly cwd?: string
}

/** Files that one file may lead to. */
const MAX_FILES = 2_000
const EXTENSIONS = ['', '.yaml', '.yml'] as const

const isBelow = (root: string, path: string): boolean => {
  const rest = relative(root, path)
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)
}

/** What an entry refers to by the name or the path of a file. */
const referencesOf = ({ workflow }: WorkflowEntry): string[] => {
  const { extends: parent, modules = [], override } = workflow ?? {}
  const refs = [...modules, ...(override?.modules?.modules ?? []), ...(override?.modules?.replace ?? [])]
  return [parent, ...refs.map(({ path, steps = [] }) => (steps.length > 0 ? undefined : path))].filter(
    (name) => name !== undefined,
  )
}

/**
 * A workflow file and what it refers to; no other file is read. A path is looked for in the caller's folder, in that of
 * the file which names it, in the one above, and around the file that the caller named: modules may stand beside the
 * folder of the flows. What leaves all of these is not found. What is not there is looked for by name below the
 * file's folder and in `folders`.
 */
class FileLibrary implements WorkflowLibrary {
  readonly generation = 0
  readonly main: WorkflowEntry
  readonly #file: string
  readonly #cwd: string
  readonly #folders: readonly string[]
  readonly #roots: readonly string[]
  readonly #byFile = new Map<string, WorkflowEntry>()
  readonly #places = new Map<WorkflowEntry, string>()
  readonly #found = new Map<WorkflowEntry, Map<string, WorkflowEntry>>()
  #others: WorkflowLibrary | undefined

  private constructor(
    file: string,
    main: WorkflowEntry,
    cwd: string,
    folders: readonly string[],
    roots: readonly string[],
  ) {
    this.#file = file
    this.main = main
    this.#cwd = cwd
    this.#folders = folders
    this.#roots = roots
    this.#add(file, main)
  }

  static async open(
    named: string,
    { folders, cwd = process.cwd() }: FileLibraryOptions,
  ): Promise<FileLibrary> {
    const file = resolve(cwd, named)
    const above = dirname(dirname(file))
    const around = [above, resolve(cwd)].filter((folder) => folder !== sep)
    const roots = [dirname(file), ...around, ...folders.map((folder) => resolve(folder))]
    const library = new FileLibrary(file, await read(file, named), resolve(cwd), folders, roots)
    await library.#follow()
    return library
  }

  #add(file: string, entry: WorkflowEntry): void {
    this.#byFile.set(file, entry)
    this.#places.set(entry, file)
  }

  /** Reads what is referred to, and what that refers to. */
  async #follow(): Promise<void> {
    const open = [this.main]
    for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
      const found = new Map<string, WorkflowEntry>()
      this.#found.set(entry, found)
      for (const name of referencesOf(entry)) {
        if (found.has(name)) continue
        const size = this.#byFile.size
        const other = await this.#at(name, this.#places.get(entry) ?? this.#file)
        if (other === undefined) this.#others ??= await openLibrary([dirname(this.#file), ...this.#folders])
        else {
          found.set(name, other)
          if (this.#byFile.size > size) open.push(other)
        }
      }
    }
  }

  async #at(name: string, from: string): Promise<WorkflowEntry | undefined> {
    const isPath = name.includes('/') || /\.ya?ml$/i.test(name)
    const near = [dirname(from), dirname(dirname(from)), dirname(this.#file), dirname(dirname(this.#file))]
    for (const folder of new Set(isPath ? [this.#cwd, ...near] : [dirname(from)])) {
      for (const extension of EXTENSIONS) {
        const entry = await this.#read(resolve(folder, `${name}${extension}`))
        if (entry !== undefined) return entry
      }
    }
    return undefined
  }

  async #read(path: string): Promise<WorkflowEntry | undefined> {
    if (!this.#roots.some((root) => isBelow(root, path))) return undefined
    const facts = await stat(path).catch(() => undefined)
    if (facts?.isFile() !== true) return undefined
    const known = this.#byFile.get(path)
    if (known !== undefined || this.#byFile.size >= MAX_FILES) return known
    const entry = await read(path, relative(this.#cwd, path))
    this.#add(path, entry)
    return entry
  }

  async refresh(): Promise<void> {}

  list(): readonly WorkflowEntry[] {
    return [...this.#byFile.values(), ...(this.#others?.list() ?? [])]
  }

  find(name: string, kind?: WorkflowKind, from?: WorkflowEntry): WorkflowEntry | undefined {
    if (from === undefined) return this.main
    if (!this.#found.has(from)) return this.#others?.find(name, kind, from)
    // What a child does not name itself stands in a parent, and was looked for from there.
    const seen = new Set<WorkflowEntry>()
    for (let entry: WorkflowEntry | undefined = from; entry !== undefined && !seen.has(entry);) {
      const found = this.#found.get(entry)
      const hit = found?.get(name)
      if (hit !== undefined) return hit
      seen.add(entry)
      entry = found?.get(entry.workflow?.extends ?? '')
    }
    return this.#others?.find(name, kind)
  }

  async put(): Promise<void> {
    throw new Error('a library of one file cannot be changed')
  }

  async remove(): Promise<void> {
    await this.put()
  }
}

const read = async (file: string, shown: string): Promise<WorkflowEntry> => {
  const limits = READ_LIMITS
  const { size } = await stat(file)
  if (size > limits.fileBytes)
    return brokenEntry('file', shown, 'too-big', `The file is larger than ${limits.fileBytes} bytes.`)
  const text = await readFile(file, 'utf8')
  const { entry, problems } = checkFile({ source: 'file', path: shown, text, limits })
  return entry ?? { ...brokenEntry('file', shown, 'missing-field', ''), problems }
}

/** Reads a workflow file with what it refers to. Its `find` without `from` answers that file, whatever the name. */
export const openFile = async (file: string, options: FileLibraryOptions): Promise<WorkflowLibrary> =>
  await FileLibrary.open(file, options)
