import { addressText, BITS, isV4, readHost, V4_BITS, type Host, type Range } from './host.ts'
import { readTarget } from './target.ts'

/** Most destinations of an attempt that are recorded one by one. */
export const RECORDED_DESTINATIONS = 10_000
/** A destination that can be any host. */
export const ANY_HOST = '*'

const V4_OFFSET = BITS - V4_BITS

const networkText = (first: bigint, prefix: number): string => {
  const isShort = isV4(first) && prefix >= V4_OFFSET
  const [length, all] = isShort ? [prefix - V4_OFFSET, V4_BITS] : [prefix, BITS]
  const address = addressText(first)
  return length === all ? address : `${address}/${length}`
}

/** The networks that have exactly the addresses of a range. */
const networksOf = ({ lo, hi }: Range): string[] => {
  const found: string[] = []
  for (let at = lo; at <= hi;) {
    let bits = 0n
    // As large as its first address and the end of the range permit. No network has IPv4 and other addresses.
    while (
      bits < BigInt(isV4(at) ? V4_BITS : BITS) &&
      at % (1n << (bits + 1n)) === 0n &&
      at + (1n << (bits + 1n)) - 1n <= hi
    )
      bits += 1n
    found.push(networkText(at, BITS - Number(bits)))
    at += 1n << bits
  }
  return found
}

const textsOf = (host: Host): string[] =>
  host.kind === 'name' ? [host.host] : host.ranges.flatMap(networksOf)

/** What a target, an item or a URL names on the network: names, addresses and networks. Files are none. */
export const destinationsOf = (text: string): readonly string[] => {
  const target = readTarget(text)
  if (target === 'no-host') return []
  return target === 'unclear' ? [ANY_HOST] : [...new Set(target.hosts.flatMap(textsOf))]
}

/** The targets that name exactly one host or network, without a user and in its usual form. */
const formsOf = (
  host: string,
): { readonly exact: readonly string[]; readonly prefixes: readonly string[] } => {
  if (host.includes('/')) return { exact: [host], prefixes: [] }
  const shown = host.includes(':') ? `[${host}]` : host
  const exact = [shown, `http://${shown}`, `https://${shown}`]
  return {
    exact: [...new Set([host, ...exact])],
    prefixes: exact.flatMap((form) => [`${form}:`, `${form}/`]),
  }
}

/** Whether a search for its host finds a run by its target, so that the host need not be recorded. */
export const isFoundByTarget = (text: string): boolean => {
  const [host, ...more] = destinationsOf(text)
  if (host === undefined) return true
  const { exact, prefixes } = formsOf(host)
  return more.length === 0 && (exact.includes(text) || prefixes.some((prefix) => text.startsWith(prefix)))
}

/** How to find what a host was a destination of. */
export interface HostSearch {
  /** Of targets. */
  readonly exact: readonly string[]
  readonly prefixes: readonly string[]
  /** Of recorded destinations: the host and all networks or domains that have it. */
  readonly hosts: readonly string[]
}

/** Undefined: the text is not one address or name. */
export const hostSearchOf = (text: string): HostSearch | undefined => {
  const host = readHost(text)
  if (host?.kind === 'name') {
    const labels = host.host.split('.')
    // A scan of a domain also scans names below it.
    const domains = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
    const hosts = domains.length === 0 ? [host.host] : domains
    return searchOf(hosts, hosts)
  }
  const [range, ...more] = host?.ranges ?? []
  if (range === undefined || more.length > 0) return undefined
  const at = range.lo
  const first = isV4(at) ? V4_OFFSET : 0
  const networks = Array.from({ length: BITS - first + 1 }, (_, index) => {
    const free = BigInt(BITS - first - index)
    return networkText((at >> free) << free, first + index)
  })
  return searchOf([addressText(at)], networks)
}

const searchOf = (targets: readonly string[], hosts: readonly string[]): HostSearch => {
  const forms = targets.map(formsOf)
  return {
    exact: [...new Set([...forms.flatMap(({ exact }) => exact), ...hosts])],
    prefixes: forms.flatMap(({ prefixes }) => prefixes),
    hosts: [...hosts, ANY_HOST],
  }
}
