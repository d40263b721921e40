import { asList, asText, at } from '../../fields.ts'
import { spelled } from '../paths.ts'

/** Reasons of a state that need no packet from the host. */
const NO_ANSWER = /^(|user-set|no-responses?|unknown-response)$/

/** Whether nothing is known: no answer, or, also of `open|filtered`, only a refusal that a firewall on the way may send. */
const isUnknown = (state: string, reason: string): boolean =>
  /(^|\|)filtered$/.test(state) || NO_ANSWER.test(reason)

/** Whether a host of an nmap report sent a response: with -Pn nmap reports every host as up. */
export const hostAnswers = (host: unknown): boolean => {
  if (asText(at(host, 'status', 'state')) === 'down' || asText(at(host, 'timedout')) === 'true') return false
  return (
    !NO_ANSWER.test(asText(at(host, 'status', 'reason'))) || answersOf(host).some(({ isSilent }) => !isSilent)
  )
}

interface Answer {
  readonly protocol: string
  /** `1,5-9`, or `""` for all that are not listed. */
  readonly list: string
  readonly isSilent: boolean
}

/** What is known about the ports of a host. */
const answersOf = (host: unknown): readonly Answer[] => [
  ...asList(at(host, 'ports', 'extraports')).flatMap((extra) =>
    asList(at(extra, 'extrareasons')).map((other) => ({
      protocol: asText(at(other, 'proto')) || 'tcp',
      list: asText(at(other, 'ports')),
      isSilent: isUnknown(asText(at(extra, 'state')), asText(at(other, 'reason'))),
    })),
  ),
  ...asList(at(host, 'ports', 'port')).map((port) => ({
    protocol: asText(at(port, 'protocol')),
    list: asText(at(port, 'portid')),
    isSilent: isUnknown(asText(at(port, 'state', 'state')), asText(at(port, 'state', 'reason'))),
  })),
]

const LAST_PORT = 65_535

export const SILENT_HOST = 'none of its ports answered: it is off, or behind a firewall'
export const SILENT_PORT = 'nothing came back from this port, possibly because of a firewall'

/** `80,1000-2000` as a multirange of Postgres. */
export const multirangeOf = (ports: string): string =>
  `{${ports
    .split(',')
    .map((range) => `[${range.includes('-') ? range.replace('-', ',') : `${range},${range}`}]`)
    .join(',')}}`

interface Ports {
  readonly first: number
  readonly last: number
  readonly isSilent: boolean
}

/**
 * The ports of a host from which nothing came back, as `80,1000-2000`, by protocol. Ports that were not scanned count as
 * those around them, so that the list is short.
 */
export const silentPorts = (host: unknown): ReadonlyMap<string, string> => {
  const known = new Map<string, Ports[]>()
  // Versions of nmap before 7.90 do not say which ports have the reason of the others.
  const unlisted = new Set<string>()
  for (const { protocol, list, isSilent } of answersOf(host)) {
    if (list === '' && isSilent) unlisted.add(protocol)
    const ports = known.get(protocol) ?? []
    known.set(protocol, ports)
    for (const range of list === '' ? [] : list.split(',')) {
      const [first = 0, last = first] = range.split('-').map(Number)
      ports.push({ first, last, isSilent })
    }
  }
  return new Map(
    [...known].map(([protocol, ports]) => [protocol, silentRanges(ports, unlisted.has(protocol))]),
  )
}

const silentRanges = (ports: readonly Ports[], areOthersSilent: boolean): string => {
  const ranges: string[] = []
  let [from, to] = areOthersSilent ? [1, 0] : [0, 0]
  const end = (last: number): void => {
    if (from > 0 && from <= last) ranges.push(from === last ? `${from}` : `${from}-${last}`)
  }
  for (const { first, last, isSilent } of ports.toSorted((a, b) => a.first - b.first)) {
    if (isSilent) [from, to] = [from || first, last]
    else {
      end(areOthersSilent ? first - 1 : to)
      from = areOthersSilent ? last + 1 : 0
    }
  }
  end(areOthersSilent ? LAST_PORT : to)
  return ranges.join(',')
}

/** The scanned name, or `""`, and names that only the address has in DNS: several addresses may share one. */
export const namesOf = (host: unknown): { readonly name: string; readonly reverse: readonly string[] } => {
  const named = asList(at(host, 'hostnames', 'hostname'))
  const isReverse = (one: unknown): boolean => asText(at(one, 'type')) === 'PTR'
  const scanned = named.find((one) => !isReverse(one))
  return {
    name: spelled(asText(at(scanned, 'name'))),
    reverse: named.filter(isReverse).map((one) => asText(at(one, 'name'))),
  }
}
