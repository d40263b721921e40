import { setImmediate } from 'node:timers/promises'
import type { WorkflowKind } from '@scanfarm/contracts'
import { readChecked } from '../check/lint.ts'
import { codeOf } from '../error.ts'
import type { FunctionTable } from '../function-table.ts'
import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import type { Workflow } from '../model.ts'
import { linesOf, type PartLines } from '../graph/parts.ts'
import { hasErrors, type Problem } from '../problem.ts'
import { looksLikeWorkflow, type Locate, type Position } from '../read/document.ts'
import type { WorkflowEntry, WorkflowLibrary } from './entry.ts'
import { judged } from './resolve.ts'
import { memorySource, type WorkflowSource } from './source.ts'

export interface LibraryOptions {
  /** Searched in this order. */
  readonly sources: readonly WorkflowSource[]
  readonly limits?: ReadLimits
  /** Reads one file. */
  readonly check: (file: SourceFile) => CheckedFile | Promise<CheckedFile>
  /** A `refresh` within this time after the last one does nothing; milliseconds, default 500. */
  readonly freshForMs?: number
}

const baseName = (path: string): string => path.replace(/^.*\//, '').replace(/\.ya?ml$/i, '')

/** A parsed file of a source. */
export interface SourceFile {
  readonly source: string
  readonly path: string
  readonly text: string
  readonly limits: ReadLimits
  /** The outline is wanted too. */
  readonly outline?: boolean
}

/** What a file contains, also if it has errors, and where each part begins. */
export interface FileOutline {
  readonly workflow: Workflow
  readonly lines: PartLines
}

/** The entry and problems of a file; no entry if the file is not a workflow. */
export interface CheckedFile {
  readonly entry: WorkflowEntry | undefined
  readonly problems: readonly Problem[]
  /** Missing if it was not asked for, or if the file could not be parsed at all. */
  readonly outline?: FileOutline
}

/** Reads and checks one file of a source. */
export const checkFile = (
  { source, path, text, limits, outline = false }: SourceFile,
  functions: FunctionTable,
): CheckedFile => {
  const { workflow, problems, locate } = readChecked(text, path, functions, limits)
  const readable = text.length <= limits.fileBytes * 2
  if (readable && !looksLikeWorkflow(text) && !/[\0\uFFFD]/.test(text)) return { entry: undefined, problems }
  const entry = {
    name: workflow?.name === undefined || workflow.name === '' ? baseName(path) : workflow.name,
    kind: workflow?.kind ?? (/^kind:\s*["']?flow/m.test(text) ? 'flow' : 'module'),
    description: workflow?.description ?? '',
    tags: workflow?.tags ?? [],
    hidden: workflow?.hidden ?? false,
    params: workflow?.params ?? [],
    triggers: workflow?.triggers ?? [],
    path,
    source,
    problems,
    workflow: hasErrors(problems) ? undefined : workflow,
    references: referencesOf(workflow, locate),
  }
  return {
    entry,
    problems,
    ...(outline && workflow !== undefined ? { outline: { workflow, lines: linesOf(workflow, locate) } } : {}),
  }
}

const referencesOf = (workflow: Workflow | undefined, locate: Locate): Record<string, Position> => ({
  ...(workflow?.extends === undefined ? {} : { extends: locate(['extends']) }),
  ...Object.fromEntries(
    (workflow?.modules ?? []).map(({ name }, index) => [
      `modules.${name}`,
      locate(['modules', index, 'path']),
    ]),
  ),
})

/** The entry of a file that could not be read. */
export const brokenEntry = (source: string, path: string, rule: string, message: string): WorkflowEntry => ({
  name: baseName(path),
  kind: 'module',
  description: '',
  tags: [],
  hidden: true,
  params: [],
  triggers: [],
  path,
  source,
  problems: [
    {
      file: path,
      line: 1,
      column: 1,
      rule,
      severity: 'error',
      message,
      hint: '',
    },
  ],
  workflow: undefined,
  references: {},
})

const folderOf = (path: string): string => (path.includes('/') ? path.replace(/\/[^/]*$/, '') : '')

/** Resolves `./`, `../` and plain relative paths against the referring file; undefined outside the source. */
const joinPath = (folder: string, path: string): string | undefined => {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/** Maximum time for which resolving references blocks the event loop. */
const MAX_BUSY_MS = 20

interface Kept {
  readonly version: string
  readonly entry: WorkflowEntry | undefined
}

class Library implements WorkflowLibrary {
  generation = 0
  readonly #sources: readonly WorkflowSource[]
  readonly #memory = memorySource('memory')
  readonly #limits: ReadLimits
  readonly #check: LibraryOptions['check']
  readonly #freshForMs: number
  readonly #kept = new Map<string, Kept>()
  #entries: readonly WorkflowEntry[] = []
  /** The entries of `#entries` with invalid references, as lists show them. */
  #broken = new Map<WorkflowEntry, WorkflowEntry>()
  #byBase = new Map<string, WorkflowEntry[]>()
  #byName = new Map<string, WorkflowEntry[]>()
  #byFile = new Map<string, WorkflowEntry[]>()
  #reading: Promise<void> | undefined
  #readAt = Number.NEGATIVE_INFINITY

  constructor(options: LibraryOptions) {
    this.#sources = [...options.sources, this.#memory]
    this.#limits = options.limits ?? READ_LIMITS
    this.#check = options.check
    this.#freshForMs = options.freshForMs ?? 500
  }

  async refresh({ force = false } = {}): Promise<void> {
    if (this.#reading !== undefined) {
      await this.#reading
      if (!force) return
    }
    if (!force && performance.now() - this.#readAt < this.#freshForMs) return
    this.#reading = this.#readAll().finally(() => {
      this.#readAt = performance.now()
      this.#reading = undefined
    })
    await this.#reading
  }

  async #readAll(): Promise<void> {
    const seen = new Map<string, Kept>()
    let changed = false
    const lists = await Promise.all(
      this.#sources.map(async (source) => ({ source, files: await source.list() })),
    )
    for (const { source, files } of lists) {
      for (const { path, version, size } of files) {
        const key = `${source.name}\n${path}`
        const kept = this.#kept.get(key)
        if (kept?.version === version) {
          seen.set(key, kept)
          continue
        }
        changed = true
        seen.set(key, { version, entry: await this.#read(source, path, size ?? 0) })
      }
    }
    if (!changed && seen.size === this.#kept.size) return
    this.#kept.clear()
    for (const [key, kept] of seen) this.#kept.set(key, kept)
    const entries = [...seen.values()].flatMap(({ entry }) => (entry === undefined ? [] : [entry]))
    this.#index(entries)
    this.generation++
    await this.#judge()
  }

  /** Resolves the references of each entry and yields to other work in between. */
  async #judge(): Promise<void> {
    const broken = new Map<WorkflowEntry, WorkflowEntry>()
    let since = performance.now()
    for (const entry of this.#entries) {
      const shown = judged(this, entry)
      if (shown !== entry) broken.set(entry, shown)
      if (performance.now() - since < MAX_BUSY_MS) continue
      await setImmediate()
      since = performance.now()
    }
    this.#broken = broken
  }

  #shown(entry: WorkflowEntry): WorkflowEntry {
    return this.#broken.get(entry) ?? entry
  }

  /** The candidates of each key, best first: by order of sources, then depth, then path. */
  #index(entries: readonly WorkflowEntry[]): void {
    const order = new Map(this.#sources.map((source, index) => [source.name, index]))
    const ranked = [...entries].sort(
      (a, b) =>
        (order.get(a.source) ?? 0) - (order.get(b.source) ?? 0) ||
        a.path.split('/').length - b.path.split('/').length ||
        a.path.localeCompare(b.path),
    )
    this.#byBase = Map.groupBy(ranked, ({ path }) => baseName(path))
    this.#byName = Map.groupBy(ranked, ({ name }) => name)
    this.#byFile = Map.groupBy(ranked, ({ path }) => path)
    this.#entries = ranked.sort((a, b) => a.name.localeCompare(b.name))
  }

  async #read(source: WorkflowSource, path: string, size: number): Promise<WorkflowEntry | undefined> {
    const limits = this.#limits
    if (size > limits.fileBytes)
      return brokenEntry(source.name, path, 'too-big', `The file is larger than ${limits.fileBytes} bytes.`)
    try {
      const text = await source.read(path)
      // Other YAML files in the same folders are skipped before they are parsed.
      if (text.length <= limits.fileBytes * 2 && !looksLikeWorkflow(text) && !/[\0\uFFFD]/.test(text))
        return undefined
      return (await this.#check({ source: source.name, path, text, limits })).entry
    } catch (error) {
      // The file was deleted or became unreadable after it was listed. It is read again when its version changes.
      if (codeOf(error) !== '') return undefined
      throw error
    }
  }

  list(): readonly WorkflowEntry[] {
    return this.#entries.map((entry) => this.#shown(entry))
  }

  find(name: string, kind?: WorkflowKind, from?: WorkflowEntry): WorkflowEntry | undefined {
    const candidates = this.#candidates(name, from)
    const rank = (entry: WorkflowEntry): number =>
      (kind !== undefined && entry.kind !== kind ? 2 : 0) + (entry.workflow === undefined ? 1 : 0)
    const found = candidates.reduce<WorkflowEntry | undefined>(
      (best, entry) => (best === undefined || rank(entry) < rank(best) ? entry : best),
      undefined,
    )
    // References need the entry as it was read.
    return found === undefined || from !== undefined ? found : this.#shown(found)
  }

  #candidates(name: string, from: WorkflowEntry | undefined): WorkflowEntry[] {
    if (name.includes('/') || /\.ya?ml$/i.test(name)) return this.#atPath(name, from)
    const byBase = (base: string) => this.#byBase.get(base) ?? []
    return [
      ...(from === undefined ? [] : this.#atPath(`./${name}`, from)),
      ...byBase(name),
      ...byBase(`${name}-flow`),
      ...byBase(`${name}-module`),
      ...(this.#byName.get(name) ?? []),
    ]
  }

  /** Relative to the referring file, then to its parent folder (modules are stored beside flows), then to the root. */
  #atPath(name: string, from: WorkflowEntry | undefined): WorkflowEntry[] {
    const folder = folderOf(from?.path ?? '')
    const wanted = [folder, folderOf(folder), ''].flatMap((at) => {
      const path = joinPath(at, name)
      return path === undefined ? [] : [path, `${path}.yaml`, `${path}.yml`]
    })
    const own = (entry: WorkflowEntry) => from === undefined || entry.source === from.source
    return wanted.flatMap((path) => {
      const hits = this.#byFile.get(path) ?? []
      return [...hits.filter(own), ...hits.filter((entry) => !own(entry))]
    })
  }

  async put(path: string, text: string): Promise<void> {
    this.#memory.put(/\.ya?ml$/i.test(path) ? path : `${path}.yaml`, text)
    await this.refresh({ force: true })
  }

  async remove(path: string): Promise<void> {
    this.#memory.remove(/\.ya?ml$/i.test(path) ? path : `${path}.yaml`)
    await this.refresh({ force: true })
  }
}

/** Opens a library on some sources; `refresh` loads changes. */
export const openSources = async (options: LibraryOptions): Promise<WorkflowLibrary> => {
  const library = new Library(options)
  await library.refresh({ force: true })
  return library
}
