import { readAddressRange, readHost, readNetwork, type Range } from './host.ts'
import { portOfScheme, readPorts, type PortRange } from './ports.ts'
import { readPath } from './url-path.ts'

/** An entry of a scope or of the never-scan list. Undefined ports are all ports. */
export type Entry = { readonly text: string; readonly ports: readonly PortRange[] | undefined } & (
  | { readonly kind: 'any' }
  | { readonly kind: 'host' | 'domain'; readonly host: string }
  | { readonly kind: 'addresses'; readonly range: Range }
  | {
      readonly kind: 'url'
      readonly scheme: string
      readonly host: string
      readonly path: string
      /** For an address. */
      readonly range: Range | undefined
    }
)

export const MAX_ENTRY_LENGTH = 512

const EXAMPLES =
  'for example example.com, *.example.com, 10.0.0.0/8, 10.0.0.1-10.0.0.9, 10.0.0.1:80,443, [2001:db8::1]:443, https://example.com/app or *'

/** Thrown with what is wrong. */
class BadEntry extends Error {}

const LABEL = /^[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?$/u

const nameOf = (text: string): string => {
  const host = readHost(text)
  if (host?.kind !== 'name' || !host.host.split('.').every((label) => LABEL.test(label)))
    throw new BadEntry(`is not a host, domain, network or URL; ${EXAMPLES}`)
  return host.host
}

const addressesOf = (text: string): Range | undefined => {
  const network = readNetwork(text)
  if (network !== undefined) {
    if (!network.isExact)
      throw new BadEntry(
        `is not the first address of its network: give the network, or the address without ${text.slice(text.indexOf('/'))}`,
      )
    return network.range
  }
  if (text.includes('/'))
    throw new BadEntry(`is not a network: the prefix is at most 32, or 128 for IPv6; ${EXAMPLES}`)
  const range = readAddressRange(text)
  if (range !== undefined) {
    if (text.includes(',') || (text.includes('-') && text.split('.').length === 4))
      throw new BadEntry('must be a network or a range from one address to another, like 10.0.0.1-10.0.0.9')
    return range
  }
  const host = readHost(text)
  if (host?.kind !== 'addresses') return undefined
  const [first, second] = host.ranges
  if (second !== undefined || host.host !== text.replace(/^\[(.*)\]$/, '$1').toLowerCase())
    if (!text.includes(':'))
      throw new BadEntry(`must be written as a dotted address; did you mean ${host.host}?`)
  return first
}

const urlEntry = (text: string): Entry => {
  const [, scheme = '', authority = '', tail = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is.exec(text) ?? []
  if (authority.includes('@')) throw new BadEntry('must not contain a user name')
  if (/[?#]/.test(tail)) throw new BadEntry('is a prefix of URLs: it must not contain ? or #')
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(authority) ?? []
  const ports = port === undefined ? undefined : readPorts(port)
  if (port !== undefined && (ports === undefined || /[,-]/.test(port)))
    throw new BadEntry(`has the port ${JSON.stringify(port)}, which is not a number from 1 to 65535`)
  const standard = portOfScheme(scheme.toLowerCase())
  const range = addressesOf(host)
  return {
    text,
    kind: 'url',
    scheme: scheme.toLowerCase(),
    host: range === undefined ? nameOf(host) : (readHost(host)?.host ?? host),
    path: readPath(tail),
    range,
    ports: ports ?? (standard === undefined ? undefined : [[standard, standard]]),
  }
}

/** The host and the ports of an entry without a scheme. */
const split = (text: string): readonly [string, string | undefined] => {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(text)
  if (bracketed !== null) return [bracketed[1] ?? '', bracketed[2]]
  if (text.split(':').length !== 2) return [text, undefined]
  const at = text.indexOf(':')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Throws `BadEntry`. */
const read = (text: string): Entry => {
  if (text === '') throw new BadEntry('must not be empty')
  if (text.length > MAX_ENTRY_LENGTH) throw new BadEntry(`has at most ${MAX_ENTRY_LENGTH} characters`)
  if (/[\p{Cc}\p{Z}\\]/u.test(text)) throw new BadEntry('must not contain spaces, control characters or \\')
  if (text.includes('://')) return urlEntry(text)
  const [host, portText] = split(text)
  const ports = portText === undefined ? undefined : readPorts(portText)
  if (portText !== undefined && ports === undefined)
    throw new BadEntry(
      `has the ports ${JSON.stringify(portText)}, which are not ports like 443 or 80,8000-9000`,
    )
  if (host === '*') return { text, kind: 'any', ports }
  if (host.startsWith('*.')) return { text, kind: 'domain', host: nameOf(host.slice(2)), ports }
  const range = addressesOf(host)
  return range === undefined
    ? { text, kind: 'host', host: nameOf(host), ports }
    : { text, kind: 'addresses', range, ports }
}

/** Why an entry is not valid, or the entry. */
export const readEntry = (text: string): Entry | { readonly problem: string } => {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof BadEntry) return { problem: `${JSON.stringify(text.slice(0, 80))} ${error.message}` }
    throw error
  }
}

export const entryProblem = (text: string): string | undefined => {
  const entry = readEntry(text)
  return 'problem' in entry ? entry.problem : undefined
}
