import { readEntry, type Entry } from './entry.ts'
import { embedded, type Host, type Range } from './host.ts'
import { hasPorts, shareAPort } from './ports.ts'
import type { ScopeTarget } from './target.ts'
import { isBelow } from './url-path.ts'

type Of<K extends Entry['kind']> = Extract<Entry, { kind: K }>

/** The name and the domains above it, the longest first. */
const upwards = function* (name: string): Generator<string> {
  for (let rest = name; ; rest = rest.slice(rest.indexOf('.') + 1)) {
    yield rest
    if (!rest.includes('.')) return
  }
}

const overlap = (a: Range, b: Range): boolean => a.lo <= b.hi && b.lo <= a.hi

/** Entries, with an index: a look-up does not read all of them. */
export class EntrySet {
  readonly #any: Of<'any'>[] = []
  readonly #names = new Map<string, Of<'host' | 'domain'>[]>()
  readonly #urls = new Map<string, Of<'url'>[]>()
  /** By their first address. */
  readonly #networks: Of<'addresses'>[] = []
  /** The highest last address of the networks up to an index. */
  readonly #reach: bigint[] = []

  /** Texts that are no entries are left out. */
  constructor(texts: Iterable<string>) {
    for (const text of texts) this.#add(text)
    this.#networks.sort((a, b) => (a.range.lo < b.range.lo ? -1 : a.range.lo > b.range.lo ? 1 : 0))
    for (const { range } of this.#networks) {
      const before = this.#reach.at(-1) ?? range.hi
      this.#reach.push(before > range.hi ? before : range.hi)
    }
  }

  #add(text: string): void {
    const entry = readEntry(text)
    if ('problem' in entry) return
    if (entry.kind === 'any') this.#any.push(entry)
    else if (entry.kind === 'addresses') this.#networks.push(entry)
    else if (entry.kind === 'url') push(this.#urls, entry.host, entry)
    else push(this.#names, entry.host, entry)
  }

  *entries(): Generator<Entry> {
    yield* this.#any
    yield* this.#networks
    for (const kept of [this.#names, this.#urls]) for (const entries of kept.values()) yield* entries
  }

  get hasAddresses(): boolean {
    return this.#networks.length > 0
  }

  /** The entry that forbids the target: one that has any part of it. A host also forbids the names below it. */
  forbids(target: ScopeTarget): string | undefined {
    const { port } = target
    const found = this.#any.find((entry) => shareAPort(entry.ports, port))
    if (found !== undefined) return found.text
    for (const host of target.hosts) {
      const entry =
        this.#urlOf(host, target) ??
        (host.kind === 'name' ? this.#named(host.host, target) : this.#meets(host.ranges, port))
      if (entry !== undefined) return entry.text
    }
    return undefined
  }

  /** The entry that forbids an address to which a name resolves. */
  forbidsAddresses(ranges: readonly Range[], port: number | undefined): string | undefined {
    return this.#meets(ranges, port)?.text
  }

  /** `part`: only a part of the target is allowed. */
  allows(target: ScopeTarget): 'all' | 'part' | 'none' {
    if (this.#any.some((entry) => hasPorts(entry.ports, target.port))) return 'all'
    const parts = target.hosts.map((host) => this.#allowsHost(host, target))
    if (parts.every((part) => part === 'all')) return 'all'
    return parts.every((part) => part === 'none') ? 'none' : 'part'
  }

  #allowsHost(host: Host, target: ScopeTarget): 'all' | 'part' | 'none' {
    if (!target.isWildcard && this.#urlOf(host, target) !== undefined) return 'all'
    if (host.kind === 'addresses') return this.#covers(host.ranges, target.port)
    for (const name of upwards(host.host)) {
      const entry = this.#names
        .get(name)
        ?.find(
          ({ kind, ports }) =>
            hasPorts(ports, target.port) && (kind === 'domain' || (name === host.host && !target.isWildcard)),
        )
      if (entry !== undefined) return 'all'
    }
    return 'none'
  }

  #urlOf(host: Host, { url, port }: ScopeTarget): Of<'url'> | undefined {
    if (url === undefined) return undefined
    return this.#urls
      .get(host.host)
      ?.find(
        ({ scheme, path, ports }) =>
          scheme === url.scheme && shareAPort(ports, port) && isBelow(url.path, path),
      )
  }

  #named(host: string, { port, isWildcard }: ScopeTarget): Entry | undefined {
    const meets = ({ ports }: Entry): boolean => shareAPort(ports, port)
    for (const name of upwards(host)) {
      const entry = this.#names.get(name)?.find(meets)
      if (entry !== undefined) return entry
    }
    if (!isWildcard) return undefined
    return this.#names
      .entries()
      .filter(([name]) => name.endsWith(`.${host}`))
      .flatMap(([, entries]) => entries)
      .find(meets)
  }

  #meets(ranges: readonly Range[], port: number | undefined): Of<'addresses'> | undefined {
    for (const range of ranges) {
      const inner = embedded(range)
      for (const one of inner === undefined ? [range] : [range, inner])
        for (const entry of this.#overlapping(one)) if (shareAPort(entry.ports, port)) return entry
    }
    return undefined
  }

  #covers(ranges: readonly Range[], port: number | undefined): 'all' | 'part' | 'none' {
    let some = false
    let all = true
    for (const { lo, hi } of ranges) {
      const entries = [...this.#overlapping({ lo, hi })].filter(({ ports }) => hasPorts(ports, port))
      some ||= entries.length > 0
      let next = lo
      for (const { range } of entries.toReversed())
        if (range.lo <= next && range.hi >= next) next = range.hi + 1n
      all &&= next > hi
    }
    return all ? 'all' : some ? 'part' : 'none'
  }

  /** The last one by its first address comes first. */
  *#overlapping(range: Range): Generator<Of<'addresses'>> {
    let from = 0
    let to = this.#networks.length
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#networks[middle]?.range.lo ?? 0n) <= range.hi) from = middle + 1
      else to = middle
    }
    for (let at = from - 1; at >= 0 && (this.#reach[at] ?? 0n) >= range.lo; at -= 1) {
      const entry = this.#networks[at]
      if (entry !== undefined && overlap(entry.range, range)) yield entry
    }
  }
}

const push = <T>(map: Map<string, T[]>, key: string, value: T): void => {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
