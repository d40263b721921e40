import { setImmediate } from 'node:timers/promises'
import type { WorkflowKind } from '@scanfarm/contracts'
import { readChecked } from '../check/lint.ts'
import { codeOf } from '../fault.ts'
import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import type { Param, Trigger, Workflow } from '../model.ts'
import { hasErrors, type Problem } from '../problem.ts'
import { looksLikeWorkflow, type Locate, type Place } from '../read/document.ts'
import { judged } from './resolve.ts'
import { folderSource, memorySource, type WorkflowSource } from './source.ts'

/** What lists show of a workflow, also of a broken one. */
export interface WorkflowEntry {
  readonly name: string
  readonly kind: WorkflowKind
  readonly description: string
  readonly tags: readonly string[]
  readonly hidden: boolean
  readonly params: readonly Param[]
  readonly triggers: readonly Trigger[]
  /** Path within its source. */
  readonly path: string
  readonly source: string
  readonly problems: readonly Problem[]
  /** Missing when the file is broken. */
  readonly workflow: Workflow | undefined
  /** Where the file refers to others: its parent under `extends`, each module under its name. */
  readonly references: Readonly<Record<string, Place>>
}

export interface LibraryOptions {
  /** Searched after the folders, in this order. */
  readonly sources?: readonly WorkflowSource[]
  readonly limits?: ReadLimits
  /** Reads one file; default: on the thread of the caller. */
  readonly check?: (file: SourceFile) => CheckedFile | Promise<CheckedFile>
  /** A `refresh` within this time of the last one looks at nothing; milliseconds, default 500. */
  readonly freshForMs?: number
}

/** All workflows there are, by name. Reading is cheap and never waits; `refresh` brings in what has changed. */
export interface WorkflowLibrary {
  /** Grows with every change, so that what was derived from the library can be kept until then. */
  readonly generation: number
  /** Looks for new, changed and vanished files; only these are read. Calls at the same time share one look. */
  refresh(options?: { force?: boolean }): Promise<void>
  /** Everything, broken ones too, sorted by name. */
  list(): readonly WorkflowEntry[]
  /**
   * By file name without extension, then `<name>-flow`, `<name>-module`, then the `name:` inside; with a slash in it
   * only by path. A sound file is preferred to a broken one and one of the kind asked for to one of the other.
   */
  find(name: string, kind?: WorkflowKind, from?: WorkflowEntry): WorkflowEntry | undefined
  /** Adds or replaces a workflow in memory. */
  put(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
}

const baseName = (path: string): string => path.replace(/^.*\//, '').replace(/\.ya?ml$/i, '')

/** A file of a source as the library reads it. */
export interface SourceFile {
  readonly source: string
  readonly path: string
  readonly text: string
  readonly limits: ReadLimits
}

/** What a file is and what is wrong with it; no entry when it does not mean to be a workflow. */
export interface CheckedFile {
  readonly entry: WorkflowEntry | undefined
  readonly problems: readonly Problem[]
}

/** Reads and checks one file of a source. */
export const checkFile = ({ source, path, text, limits }: SourceFile): CheckedFile => {
  const { workflow, problems, locate } = readChecked(text, path, { limits })
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
  return { entry, problems }
}

const referencesOf = (workflow: Workflow | undefined, locate: Locate): Record<string, Place> => ({
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

/** `./`, `../` and plain relative paths, seen from the file that names them; `undefined` outside of the source. */
const joinPath = (folder: string, path: string): string | undefined => {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/** Time for which following references holds up everything else. */
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
  readonly #check: NonNullable<LibraryOptions['check']>
  readonly #freshForMs: number
  readonly #kept = new Map<string, Kept>()
  #entries: readonly WorkflowEntry[] = []
  /** Those of `#entries` that are broken for what they refer to, as they are shown. */
  #broken = new Map<WorkflowEntry, WorkflowEntry>()
  #byBase = new Map<string, WorkflowEntry[]>()
  #byName = new Map<string, WorkflowEntry[]>()
  #byFile = new Map<string, WorkflowEntry[]>()
  #looking: Promise<void> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(folders: readonly string[], options: LibraryOptions) {
    this.#sources = [...folders.map(folderSource), ...(options.sources ?? []), this.#memory]
    this.#limits = options.limits ?? READ_LIMITS
    this.#check = options.check ?? checkFile
    this.#freshForMs = options.freshForMs ?? 500
  }

  async refresh({ force = false } = {}): Promise<void> {
    if (this.#looking !== undefined) {
      await this.#looking
      if (!force) return
    }
    if (!force && performance.now() - this.#lookedAt < this.#freshForMs) return
    this.#looking = this.#look().finally(() => {
      this.#lookedAt = performance.now()
      this.#looking = undefined
    })
    await this.#looking
  }

  async #look(): Promise<void> {
    const seen = new Map<string, Kept>()
    let changed = false
    for (const source of this.#sources) {
      for (const { path, version, size } of await source.list()) {
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

  /** Follows what each entry refers to. Other work goes on between them. */
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

  /** Best first under each key: order of sources, then depth, then path decide. */
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
      // Other YAML in the same folders is skipped before it costs anything.
      if (text.length <= limits.fileBytes * 2 && !looksLikeWorkflow(text) && !/[\0\uFFFD]/.test(text))
        return undefined
      return (await this.#check({ source: source.name, path, text, limits })).entry
    } catch (error) {
      // Gone or closed to us between the listing and now: it is looked at again when its version changes.
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
    // What refers to it wants what was read.
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

  /** Seen from the file that names it, then from the folder above, as modules stand beside flows, then from the top. */
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

/** Opens the workflows of some folders, read once and looked over again on `refresh`. */
export const openLibrary = async (
  folders: readonly string[],
  options: LibraryOptions = {},
): Promise<WorkflowLibrary> => {
  const library = new Library(folders, options)
  await library.refresh({ force: true })
  return library
}
