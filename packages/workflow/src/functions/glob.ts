import { join, resolve } from 'node:path'
import { RefusedPath, type RunPlace } from './allowed.ts'
import { entriesOf, isThere } from './files.ts'
import { patternOf, type Pattern } from './pattern.ts'

/** Names that one search looks at. */
const MAX_NAMES = 1_000_000
/** Patterns that `{a,b}` may unfold into. */
const MAX_PATTERNS = 1000
const MAGIC = /[*?[]/

/** `**` or the name itself, where it is not a pattern. */
type Part = string | Pick<Pattern, 'test'>

/** `{a,b}` written out, from the inside to the outside. */
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

/** Paths that match `*`, `?`, `[…]`, `{a,b}` and `**`. None that a link brings there from outside of the allowed folders. */
export const matchingPaths = async function* (glob: string, place: RunPlace): AsyncGenerator<string> {
  const search = new Search(place)
  for (const pattern of unfolded(glob)) {
    const parts = resolve(pattern).split('/').slice(1)
    const magic = parts.findIndex((part) => MAGIC.test(part))
    const plain = `/${parts.slice(0, magic === -1 ? parts.length : magic).join('/')}`
    const rest = magic === -1 ? [] : parts.slice(magic)
    // What the pattern begins with must be allowed; further links out are only left out.
    if (await isThere(plain, place)) yield* search.below(plain, rest.map(partOf))
  }
}

class Search {
  readonly #place: RunPlace
  readonly #found = new Set<string>()
  #names = 0

  constructor(place: RunPlace) {
    this.#place = place
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
      if (await this.#allowed(() => isThere(next, this.#place))) yield* this.below(next, rest)
    } else {
      for await (const { name, isFolder, isLink } of this.#entries(path)) {
        if (!part.test(name)) continue
        if (rest.length === 0) yield* this.#yield(join(path, name), isLink)
        else if (isFolder || isLink) yield* this.below(join(path, name), rest)
      }
    }
  }

  /** Each path once: `**` finds some in several ways. */
  async *#yield(path: string, isLink = true): AsyncGenerator<string> {
    if (this.#found.has(path)) return
    if (isLink && !(await this.#allowed(() => isThere(path, this.#place)))) return
    this.#found.add(path)
    yield path
  }

  async *#entries(path: string) {
    this.#place.signal?.throwIfAborted()
    try {
      for await (const entry of entriesOf(path, this.#place)) {
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
