import type { Boundary } from './allows.ts'
import type { Entry } from './entry.ts'
import type { Range } from './host.ts'
import type { PortRange } from './ports.ts'

/** Addresses on ports; undefined ports are all ports. */
export interface NetworkPart {
  readonly ports: readonly PortRange[] | undefined
  readonly ranges: readonly Range[]
}

/** Names on ports, whose addresses have to be found out. */
export interface NamedPart {
  readonly ports: readonly PortRange[] | undefined
  readonly names: readonly string[]
  /** Those of the names that stand for all below them. */
  readonly domains: readonly string[]
}

/** What a boundary means for packets, which have addresses and ports, but neither names nor paths. */
export interface NetworkRules {
  readonly networks: readonly NetworkPart[]
  readonly names: readonly NamedPart[]
}

const ALL: Range = { lo: 0n, hi: (1n << 128n) - 1n }

/** By their ports. */
const rulesOf = (entries: readonly Entry[]): NetworkRules => {
  const groups = Map.groupBy(entries, ({ ports }) => JSON.stringify(ports ?? []))
  const networks: NetworkPart[] = []
  const names: NamedPart[] = []
  for (const group of groups.values()) {
    const ports = group[0]?.ports
    const ranges = group.flatMap((entry) => {
      if (entry.kind === 'any') return [ALL]
      return 'range' in entry && entry.range !== undefined ? [entry.range] : []
    })
    const named = group.flatMap((entry) => {
      if (entry.kind === 'any' || ('range' in entry && entry.range !== undefined)) return []
      return 'host' in entry ? [entry.host] : []
    })
    if (ranges.length > 0) networks.push({ ports, ranges })
    const domains = group.flatMap((entry) => (entry.kind === 'domain' ? [entry.host] : []))
    if (named.length > 0) names.push({ ports, names: [...new Set(named)], domains })
  }
  return { networks, names }
}

/**
 * What no packet may be sent to. A forbidden prefix of URLs forbids no address: the rest of the site may be scanned.
 * Undefined: nothing.
 */
export const forbiddenByNetwork = ({ scopes, neverScan }: Boundary): NetworkRules | undefined => {
  const sets = [neverScan.entries, ...scopes.map(({ denied }) => denied)]
  const entries = sets.flatMap((set) => [...set.entries()]).filter(({ kind }) => kind !== 'url')
  return entries.length === 0 ? undefined : rulesOf(entries)
}

/** What packets may be sent to, by each scope that the kernel enforces: all of them must allow a packet. */
export const allowedByNetwork = ({ scopes }: Boundary): NetworkRules[] =>
  scopes
    .filter(({ rules }) => rules.enforcement === 'kernel')
    .map(({ allowed }) => rulesOf([...allowed.entries()]))
