import {
  addressRanges,
  allowedByNetwork,
  forbiddenByNetwork,
  shareAPort,
  type Boundary,
  type NamedPart,
  type NetworkPart,
  type NetworkRules,
} from '@scanfarm/contracts'
import { settlesWithin } from '@scanfarm/platform'

/** Most names of a boundary whose addresses are found out, and how long a run waits for them. */
const RESOLVED_NAMES = 1_000
const RESOLVE_MS = 10_000
const AT_ONCE = 4

type Resolve = (name: string) => Promise<readonly string[]>

/** Where packets may be sent. */
export interface Fence {
  readonly forbidden: readonly NetworkPart[]
  /** Each of these must allow a packet; none: all is allowed that is not forbidden. */
  readonly allowed: readonly (readonly NetworkPart[])[]
}

export const NO_FENCE: Fence = { forbidden: [], allowed: [] }

/** Whether packets to a port of an address pass. */
export const isWithin = ({ forbidden, allowed }: Fence, address: string, port: number): boolean => {
  const ranges = addressRanges(address)
  const meets = (part: NetworkPart): boolean =>
    shareAPort(part.ports, port) &&
    part.ranges.some(({ lo, hi }) => ranges.some((range) => range.lo <= hi && range.hi >= lo))
  return !forbidden.some(meets) && allowed.every((parts) => parts.some(meets))
}

interface Named extends NamedPart {
  readonly addresses: Set<string>
}

/** A list of entries, whose names are being found out. */
interface Side {
  readonly networks: readonly NetworkPart[]
  readonly named: readonly Named[]
}

const NOTHING: NetworkRules = { networks: [], names: [] }

const sideOf = ({ networks, names }: NetworkRules): Side => ({
  networks,
  named: names.map((part) => ({ ...part, addresses: new Set() })),
})

const partsOf = ({ networks, named }: Side, addresses: (of: Named) => Iterable<string>): NetworkPart[] => [
  ...networks,
  ...named
    .map((of) => ({ ports: of.ports, ranges: [...addresses(of)].flatMap(addressRanges) }))
    .filter(({ ranges }) => ranges.length > 0),
]

/** The fences of the runs within a boundary. */
export class Fences {
  readonly #resolve: Resolve
  readonly #forbidden: Side
  readonly #allowed: readonly Side[]
  readonly #finding: Promise<void>
  /** By what differs between runs; equal fences are the same object. */
  readonly #fences = new Map<string, Fence>()

  constructor(boundary: Boundary, resolve: Resolve) {
    this.#resolve = resolve
    this.#forbidden = sideOf(forbiddenByNetwork(boundary) ?? NOTHING)
    this.#allowed = allowedByNetwork(boundary).map(sideOf)
    this.#finding = this.#find([this.#forbidden, ...this.#allowed].flatMap(({ named }) => named))
  }

  /**
   * For a run that scans these names: an address that a forbidden name shares with one of them may be scanned, unless a
   * network forbids it; those of names below an allowed domain are allowed.
   */
  async of(scanned: ReadonlySet<string>): Promise<Fence> {
    await settlesWithin(this.#finding, RESOLVE_MS)
    const known = new Set(this.#forbidden.named.flatMap(({ addresses }) => [...addresses]))
    const domains = this.#allowed.flatMap(({ named }) => named.flatMap((part) => part.domains))
    const found =
      known.size + domains.length === 0 ? new Map<string, never>() : await this.#addressesOf(scanned)
    const shared = new Set([...found.values()].flat().filter((address) => known.has(address)))
    const below = ({ domains: above }: NamedPart): string[] =>
      above.flatMap((domain) =>
        [...found].flatMap(([name, addresses]) => (name.endsWith(`.${domain}`) ? addresses : [])),
      )
    const key = JSON.stringify([
      [...shared].sort(),
      [this.#forbidden, ...this.#allowed].map(({ named }) => named.map(({ addresses }) => addresses.size)),
      this.#allowed.map(({ named }) => named.map((of) => below(of).sort())),
    ])
    const fence = this.#fences.get(key) ?? {
      forbidden: partsOf(this.#forbidden, ({ addresses }) => addresses.difference(shared)),
      allowed: this.#allowed.map((side) => partsOf(side, (of) => [...of.addresses, ...below(of)])),
    }
    this.#fences.set(key, fence)
    return fence
  }

  async #addressesOf(names: ReadonlySet<string>): Promise<Map<string, readonly string[]>> {
    return new Map(
      await Promise.all([...names].map(async (name) => [name, await this.#resolve(name)] as const)),
    )
  }

  async #find(parts: readonly Named[]): Promise<void> {
    const wanted = parts.flatMap((found) => found.names.map((name) => ({ name, found })))
    const left = wanted.slice(0, RESOLVED_NAMES).values()
    const work = async (): Promise<void> => {
      for (const { name, found } of left)
        for (const address of await this.#resolve(name)) found.addresses.add(address)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
}
