import { readFile, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { WorkflowKind } from '@scanfarm/contracts'
import {
  READ_LIMITS,
  type CheckedFile,
  type SourceFile,
  type WorkflowEntry,
  type WorkflowLibrary,
  brokenEntry,
} from '@scanfarm/language'
import { checkSource, openLibrary } from './open-library.ts'

export interface FileLibraryOptions {
  /** Folders to search for references that are not found near the file. */
  readonly folders: readonly string[]
  /** The caller's current folder. */
  readonly cwd?: string
  /** Reads one file. */
  readonly check?: (file: SourceFile) => CheckedFile
}

/** Maximum number of files that one file may refer to, directly or indirectly. */
const MAX_FILES = 2_000
const EXTENSIONS = ['', '.yaml', '.yml'] as const

const isBelow = (root: string, path: string): boolean => {
  const rest = relative(root, path)
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)
}

/** References of an entry to other files, by name or path. */
const referencesOf = ({ workflow }: WorkflowEntry): string[] => {
  const { extends: parent, modules = [], override } = workflow ?? {}
  const refs = [...modules, ...(override?.modules?.modules ?? []), ...(override?.modules?.replace ?? [])]
  return [parent, ...refs.map(({ path, steps = [] }) => (steps.length > 0 ? undefined : path))].filter(
    (name) => name !== undefined,
  )
}

/**
 * A workflow file and the files that it refers to; no other file is read. Paths are resolved in the caller's folder, in
 * the folder of the referring file and its parent, and around the file that the caller named, because modules may be in
 * a folder beside that of the flows. Paths that lead outside these folders are not found. Other references are looked
 * up by name below the file's folder and in `folders`.
 */
class FileLibrary implements WorkflowLibrary {
  readonly generation = 0
  readonly main: WorkflowEntry
  readonly #file: string
  readonly #cwd: string
  readonly #folders: readonly string[]
  readonly #roots: readonly string[]
  readonly #check: (file: SourceFile) => CheckedFile
  readonly #byFile = new Map<string, WorkflowEntry>()
  readonly #paths = new Map<WorkflowEntry, string>()
  readonly #found = new Map<WorkflowEntry, Map<string, WorkflowEntry>>()
  #others: WorkflowLibrary | undefined

  private constructor(
    file: string,
    main: WorkflowEntry,
    cwd: string,
    folders: readonly string[],
    roots: readonly string[],
    check: (file: SourceFile) => CheckedFile,
  ) {
    this.#file = file
    this.main = main
    this.#cwd = cwd
    this.#folders = folders
    this.#roots = roots
    this.#check = check
    this.#add(file, main)
  }

  static async open(
    named: string,
    { folders, cwd = process.cwd(), check = checkSource }: FileLibraryOptions,
  ): Promise<FileLibrary> {
    const file = resolve(cwd, named)
    const above = dirname(dirname(file))
    const around = [above, resolve(cwd)].filter((folder) => folder !== sep)
    const roots = [dirname(file), ...around, ...folders.map((folder) => resolve(folder))]
    const main = await read(file, named, check)
    const library = new FileLibrary(file, main, resolve(cwd), folders, roots, check)
    await library.#follow()
    return library
  }

  #add(file: string, entry: WorkflowEntry): void {
    this.#byFile.set(file, entry)
    this.#paths.set(entry, file)
  }

  /** Reads all referenced files recursively. */
  async #follow(): Promise<void> {
    const open = [this.main]
    for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
      const found = new Map<string, WorkflowEntry>()
      this.#found.set(entry, found)
      for (const name of referencesOf(entry)) {
        if (found.has(name)) continue
        const size = this.#byFile.size
        const other = await this.#at(name, this.#paths.get(entry) ?? this.#file)
        if (other === undefined) {
          const folders = [dirname(this.#file), ...this.#folders]
          this.#others ??= await openLibrary(folders, { check: this.#check })
        } else {
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
    const entry = await read(path, relative(this.#cwd, path), this.#check)
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
    // References that a child inherits are resolved from the folder of the parent that declares them.
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

const read = async (
  file: string,
  shown: string,
  check: (file: SourceFile) => CheckedFile,
): Promise<WorkflowEntry> => {
  const limits = READ_LIMITS
  const { size } = await stat(file)
  if (size > limits.fileBytes)
    return brokenEntry('file', shown, 'too-big', `The file is larger than ${limits.fileBytes} bytes.`)
  const text = await readFile(file, 'utf8')
  const { entry, problems } = check({ source: 'file', path: shown, text, limits })
  return entry ?? { ...brokenEntry('file', shown, 'missing-field', ''), problems }
}

/** Opens a workflow file and those that it refers to. `find` without `from` returns it, whatever its name. */
export const openFile = async (file: string, options: FileLibraryOptions): Promise<WorkflowLibrary> =>
  await FileLibrary.open(file, options)
