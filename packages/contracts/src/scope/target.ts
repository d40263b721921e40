import { readAddressRange, readHost, readNetwork, type Host } from './host.ts'
import { portOfScheme } from './ports.ts'
import { readPath } from './url-path.ts'

/** What a target, or an item of a loop, names on the network. */
export interface ScopeTarget {
  readonly hosts: readonly Host[]
  /** `*.example.com`: any host below the name. */
  readonly isWildcard: boolean
  /** Undefined: any port. */
  readonly port: number | undefined
  /** Only of a URL. */
  readonly url: { readonly scheme: string; readonly path: string } | undefined
}

/** `no-host`: a file or an empty text. `unclear`: programs could read different hosts. */
export type ReadTarget = ScopeTarget | 'no-host' | 'unclear'

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i
// `//host` may be a URL without its scheme.
const FILE = /^(\/(?!\/)|\.{1,2}(\/|$)|~|file:)/i
const UNCLEAR = /[\p{Cc}\p{Z}\\]/u
const MAX_PORT = 65_535

const hostsOf = (text: string): readonly Host[] | undefined => {
  // Most targets are a single host.
  const alone = /[/*,-]/.test(text) ? undefined : readHost(text)
  if (alone !== undefined) return [alone]
  const one = readNetwork(text)?.range ?? readAddressRange(text)
  if (one !== undefined) return [{ kind: 'addresses', host: text, ranges: [one] }]
  const parts = text.split(',')
  if (parts.length === 1) {
    const host = readHost(text)
    return host && [host]
  }
  const hosts = parts.map(hostsOf)
  const known = hosts.filter((part) => part !== undefined)
  return known.length === hosts.length ? known.flat() : undefined
}

const ADDRESS_FORM = /^(?:\[[^\]]*\]|[0-9a-f:.]*(?::[0-9a-f.]*){2}(?:%[^/]*)?|[^:/?#]*)/i

/** A target without a scheme: host, host:port, network, user@host, host/path, or host:path as git writes it. */
const plainTarget = (text: string): ReadTarget => {
  const user = /^([^/?#]*)@/.exec(text)?.[1]
  if (user?.includes('@') === true) return 'unclear'
  const rest = user === undefined ? text : text.slice(user.length + 1)
  const host = ADDRESS_FORM.exec(rest)?.[0] ?? ''
  const after = rest.slice(host.length)
  const prefix = /^\/\d+$/.test(after) ? after : ''
  const network = prefix === '' ? undefined : readNetwork(host + prefix)
  // Programs read a name with a prefix as all neighbours of its address, or as a path.
  if (prefix !== '' && network === undefined) return 'unclear'
  const isWildcard = host.startsWith('*.') && readAddressRange(host) === undefined
  const hosts = hostsOf(network === undefined ? host.slice(isWildcard ? 2 : 0) : host + prefix)
  if (hosts === undefined) return 'unclear'
  const port = /^:(\d+)(?:$|[/?#])/.exec(after)?.[1]
  return { hosts, isWildcard, port: port === undefined ? undefined : Number(port), url: undefined }
}

const urlTarget = (scheme: string, rest: string): ReadTarget => {
  const [, authority = '', tail = ''] = /^([^/?#]*)(.*)$/s.exec(rest) ?? []
  if (authority.split('@').length > 2) return 'unclear'
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority.replace(/^.*@/, '')) ?? []
  const isWildcard = host.startsWith('*.')
  const read = readHost(host.slice(isWildcard ? 2 : 0))
  if (read === undefined || Number(port ?? 0) > MAX_PORT) return 'unclear'
  return {
    hosts: [read],
    isWildcard,
    port: port === undefined || port === '' ? portOfScheme(scheme) : Number(port),
    url: { scheme, path: readPath(tail) },
  }
}

/** Reads a target as the programs that receive it could read it. */
export const readTarget = (text: string): ReadTarget => {
  if (text === '' || FILE.test(text)) return 'no-host'
  if (UNCLEAR.test(text)) return 'unclear'
  const scheme = SCHEME.exec(text)
  return scheme === null
    ? plainTarget(text)
    : urlTarget((scheme[1] ?? '').toLowerCase(), text.slice(scheme[0].length))
}

const isName = (text: string): boolean =>
  /^(?:[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}])?\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)\.?$/u.test(
    text,
  )

/** Endings of files that are no top-level domains. */
const FILE_NAME =
  /^[^/?#:@\\]+\.(?:txt|log|csv|tsv|jsonl?|xml|html?|ya?ml|toml|ini|conf|cfg|lst|sarif|g?nmap|pcap|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|css|jsx?|php|aspx?|jsp|sql|bak|old|tmp|exe|dll|jar|war|pem|crt|tar|t?gz|bz2|xz|7z)$/i

/**
 * Whether an item of a loop is a host or a URL: a URL with a host, an address, a range of addresses, or a name with a
 * dot. Other words are passwords, files, paths and the like.
 */
export const namesHost = (item: string): boolean => {
  if (FILE.test(item) || FILE_NAME.test(item)) return false
  if (SCHEME.test(item)) return true
  const target = readTarget(item)
  if (typeof target === 'string') return isName(/^[^/?#:,\\]*/.exec(item.replace(/^[^/?#]*@/, ''))?.[0] ?? '')
  return target.hosts.every(
    ({ kind, host }) => (kind === 'addresses' && /[.:]/.test(item)) || (kind === 'name' && isName(host)),
  )
}
