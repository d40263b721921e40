import { join, resolve } from 'node:path'
import { RefusedPath } from '@scanfarm/paths'
import type { FileScope } from '../paths/allowed.ts'
import { entriesOf, isThere } from './files.ts'
import { patternOf, type Pattern } from '../text/pattern.ts'

/** Maximum number of names that one search reads. */
const MAX_NAMES = 1_000_000
/** Maximum number of patterns after the expansion of `{a,b}`. */
const MAX_PATTERNS = 1000
const MAGIC = /[*?[]/

/** A pattern, `**`, or a literal name. */
type Part = string | Pick<Pattern, 'test'>

/** Expands `{a,b}`, innermost first. */
const unfolded = (glob: string): string[] => {
  const done = new Set<string>()
  const open = [glob]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [whole, choices = ''] = /\{([^{}]*,[^{}]*)\}/.exec(next) ?? []
    if (whole === undefined) done.add(next)
    else for (const choice of choices.split(',')) open.push(next.replace(whole, () => choice))
    if (done.size + open.length > MAX_PATTERNS)
      throw new Error(`the pattern stands for more than ${MAX_PATTERNS} patterns`)
  }
  return [...done]
}

const partOf = (text: string): Part => {
  if (text === '**' || !MAGIC.test(text)) return text
  const source = text.replaceAll(/\[(!?)([^\]]+)\]|\*+|\?|[^]/g, (piece, not: string, set?: string) => {
    if (set !== undefined) return `[${not && '^'}${set.replaceAll(/[\\[\]^]/g, String.raw`\$&`)}]`
    if (piece.startsWith('*')) return '.*'
    return piece === '?' ? '.' : piece.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
  })
  return patternOf(`(?s)^${source}$`)
}

/** Paths that match `*`, `?`, `[…]`, `{a,b}` and `**`, without links to paths outside the allowed folders. */
export const matchingPaths = async function* (glob: string, scope: FileScope): AsyncGenerator<string> {
  const search = new Search(scope)
  for (const pattern of unfolded(glob)) {
    const parts = resolve(pattern).split('/').slice(1)
    const magic = parts.findIndex((part) => MAGIC.test(part))
    const plain = `/${parts.slice(0, magic === -1 ? parts.length : magic).join('/')}`
    const rest = magic === -1 ? [] : parts.slice(magic)
    // The literal start of the pattern must be allowed; paths that links lead to outside are left out.
    if (await isThere(plain, scope)) yield* search.below(plain, rest.map(partOf))
  }
}

class Search {
  readonly #scope: FileScope
  readonly #found = new Set<string>()
  #names = 0

  constructor(scope: FileScope) {
    this.#scope = scope
  }

  async *below(path: string, [part, ...rest]: readonly Part[]): AsyncGenerator<string> {
    if (part === undefined) yield* this.#yield(path)
    else if (part === '**') {
      yield* this.below(path, rest)
      for await (const { name, isFolder, isLink } of this.#entries(path)) {
        if (name.startsWith('.')) continue
        if (isFolder) yield* this.below(join(path, name), ['**', ...rest])
        else if (rest.length === 0) yield* this.#yield(join(path, name), isLink)
      }
    } else if (typeof part === 'string') {
      const next = join(path, part)
      if (await this.#allowed(() => isThere(next, this.#scope))) yield* this.below(next, rest)
    } else {
      for await (const { name, isFolder, isLink } of this.#entries(path)) {
        if (!part.test(name)) continue
        if (rest.length === 0) yield* this.#yield(join(path, name), isLink)
        else if (isFolder || isLink) yield* this.below(join(path, name), rest)
      }
    }
  }

  /** Yields each path once: `**` finds some repeatedly. */
  async *#yield(path: string, isLink = true): AsyncGenerator<string> {
    if (this.#found.has(path)) return
    if (isLink && !(await this.#allowed(() => isThere(path, this.#scope)))) return
    this.#found.add(path)
    yield path
  }

  async *#entries(path: string) {
    this.#scope.signal?.throwIfAborted()
    try {
      for await (const entry of entriesOf(path, this.#scope)) {
        if (++this.#names > MAX_NAMES) throw new Error(`the search looks at more than ${MAX_NAMES} names`)
        yield { name: entry.name, isFolder: entry.isDirectory(), isLink: entry.isSymbolicLink() }
      }
    } catch (error) {
      if (!(error instanceof RefusedPath)) throw error
    }
  }

  async #allowed(ask: () => Promise<boolean>): Promise<boolean> {
    return await ask().catch((error: unknown) => {
      if (error instanceof RefusedPath) return false
      throw error
    })
  }
}
