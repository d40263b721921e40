import {
  addressRanges,
  forbiddenByNetwork,
  type Boundary,
  type NamedPart,
  type NetworkPart,
} from '@scanfarm/contracts'
import { settlesWithin } from '@scanfarm/platform'

/** Most forbidden names of a boundary whose addresses are found out, and how long a run waits for them. */
const RESOLVED_NAMES = 1_000
const RESOLVE_MS = 10_000
const AT_ONCE = 4

type Resolve = (name: string) => Promise<readonly string[]>

interface NamedAddresses {
  readonly ports: NamedPart['ports']
  readonly addresses: Set<string>
}

/** The addresses that a boundary forbids, with those of forbidden names. */
export class ForbiddenNetwork {
  readonly #networks: readonly NetworkPart[]
  readonly #resolve: Resolve
  readonly #found: NamedAddresses[] = []
  readonly #finding: Promise<void>
  /** By the addresses that are left out; equal parts are the same object. */
  readonly #parts = new Map<string, readonly NetworkPart[]>()

  constructor(boundary: Boundary, resolve: Resolve) {
    const rules = forbiddenByNetwork(boundary)
    this.#networks = rules?.networks ?? []
    this.#resolve = resolve
    this.#finding = this.#find(rules?.names ?? [])
  }

  /** An address that a forbidden name shares with one that the run scans may be scanned, unless a network forbids it. */
  async parts(scanned: ReadonlySet<string>): Promise<readonly NetworkPart[]> {
    await settlesWithin(this.#finding, RESOLVE_MS)
    const known = new Set(this.#found.flatMap(({ addresses }) => [...addresses]))
    const shared = known.size === 0 ? [] : await this.#addressesOf(scanned)
    const without = new Set(shared.filter((address) => known.has(address)))
    const key = JSON.stringify([known.size, [...without].sort()])
    const parts = this.#parts.get(key) ?? this.#without(without)
    this.#parts.set(key, parts)
    return parts
  }

  #without(left: ReadonlySet<string>): readonly NetworkPart[] {
    const named = this.#found.map(({ ports, addresses }) => ({
      ports,
      ranges: [...addresses.difference(left)].flatMap(addressRanges),
    }))
    return [...this.#networks, ...named.filter(({ ranges }) => ranges.length > 0)]
  }

  async #addressesOf(names: ReadonlySet<string>): Promise<string[]> {
    return (await Promise.all([...names].map((name) => this.#resolve(name)))).flat()
  }

  async #find(parts: readonly NamedPart[]): Promise<void> {
    const wanted = parts.flatMap(({ ports, names }) => {
      const found = { ports, addresses: new Set<string>() }
      this.#found.push(found)
      return names.map((name) => ({ name, found }))
    })
    const left = wanted.slice(0, RESOLVED_NAMES).values()
    const work = async (): Promise<void> => {
      for (const { name, found } of left)
        for (const address of await this.#resolve(name)) found.addresses.add(address)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
}
