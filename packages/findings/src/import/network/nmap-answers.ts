import { asList, asText, at } from '../../fields.ts'
import { spelled } from '../paths.ts'

/** Reasons of a state that need no packet from the host. */
const NO_ANSWER =
  /^(|user-set|no-response|no-responses|(host|net|proto|dest)-unreach(es)?|(admin|host|net)-prohibiteds?|time-exceededs?|unknown-response)$/

/** Whether a host of an nmap report sent a response: with -Pn nmap reports every host as up. */
export const hostAnswers = (host: unknown): boolean => {
  if (asText(at(host, 'status', 'state')) === 'down' || asText(at(host, 'timedout')) === 'true') return false
  const ports = asList(at(host, 'ports', 'port')).map((port) => asText(at(port, 'state', 'reason')))
  const others = asList(at(host, 'ports', 'extraports')).flatMap((extra) =>
    asList(at(extra, 'extrareasons')).map((reason) => asText(at(reason, 'reason'))),
  )
  return [asText(at(host, 'status', 'reason')), ...ports, ...others].some((reason) => !NO_ANSWER.test(reason))
}

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
  const note = (protocol: string, reason: string, list: string): void => {
    const isSilent = NO_ANSWER.test(reason)
    if (list === '' && isSilent) unlisted.add(protocol)
    const ports = known.get(protocol) ?? []
    known.set(protocol, ports)
    for (const range of list === '' ? [] : list.split(',')) {
      const [first = 0, last = first] = range.split('-').map(Number)
      ports.push({ first, last, isSilent })
    }
  }
  for (const extra of asList(at(host, 'ports', 'extraports')))
    for (const other of asList(at(extra, 'extrareasons')))
      note(asText(at(other, 'proto')) || 'tcp', asText(at(other, 'reason')), asText(at(other, 'ports')))
  for (const port of asList(at(host, 'ports', 'port')))
    note(asText(at(port, 'protocol')), asText(at(port, 'state', 'reason')), asText(at(port, 'portid')))
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
