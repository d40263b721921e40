/** Addresses from `lo` to `hi`, as numbers of 128 bits. IPv4 addresses are those of ::ffff:0:0/96. */
export interface Range {
  readonly lo: bigint
  readonly hi: bigint
}

export const V4_BASE = 0xffff_0000_0000n
export const V4_ALL = 0xffff_ffffn
export const V4_BITS = 32
export const BITS = 128

/** One host, or a set of addresses. `host` is the name in lower case and ASCII, or the address in its usual form. */
export type Host =
  | { readonly kind: 'name'; readonly host: string }
  | {
      readonly kind: 'addresses'
      readonly host: string
      /** Several if the text has several readings: all must be allowed, and none may be denied. */
      readonly ranges: readonly Range[]
    }

const v4Number = (parts: readonly number[]): bigint =>
  V4_BASE + BigInt(parts.reduce((sum, part) => sum * 256 + part, 0))

const v6Number = (text: string): bigint => {
  const [head = '', tail] = text.split('::')
  const words = (side: string): string[] => (side === '' ? [] : side.split(':'))
  const front = words(head)
  const back = tail === undefined ? [] : words(tail)
  const all = [...front, ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0'), ...back]
  return all.reduce((sum, word) => (sum << 16n) | BigInt(`0x${word}`), 0n)
}

/** The host of a URL in its usual form: lower case, punycode, dotted IPv4 for all ways to write an address. */
const usual = (text: string): string | undefined => {
  const { hostname = '' } = URL.parse(`http://${text}/`) ?? {}
  // A text with more than a host in it would be read as another part of the URL.
  if (hostname === '' || /[/?#@\\]/.test(text)) return undefined
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

const DOTTED = /^\d{1,3}(\.\d{1,3}){3}$/
const numberOf = (address: string): bigint | undefined => {
  if (address.includes(':')) return v6Number(address)
  return DOTTED.test(address) ? v4Number(address.split('.').map(Number)) : undefined
}

/** Some programs read a leading zero as octal, others do not. */
const decimalReading = (text: string): bigint | undefined => {
  const parts = text.replace(/\.$/, '').split('.').map(Number)
  return /^\d+(\.\d+){3}\.?$/.test(text) && /(^|\.)0\d/.test(text) && parts.every((part) => part <= 255)
    ? v4Number(parts)
    : undefined
}

const PLAIN_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?!xn--)[a-z](?:[a-z-]{0,61}[a-z])?$/
const PART = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const PLAIN_V4 = new RegExp(`^(?!0\\d|.*\\.0\\d)${PART}(?:\\.${PART}){3}$`)

const single = (at: bigint): Range => ({ lo: at, hi: at })

/** An address or a name, in any way that programs write it. Undefined if it is neither. */
export const readHost = (text: string): Host | undefined => {
  // Nearly all texts need no parser of URLs.
  if (PLAIN_NAME.test(text)) return { kind: 'name', host: text }
  if (PLAIN_V4.test(text))
    return { kind: 'addresses', host: text, ranges: [single(v4Number(text.split('.').map(Number)))] }
  const bare = /^\[(.*)\]$/s.exec(text)?.[1] ?? text
  const isV6 = bare.includes(':')
  const host = usual(isV6 ? `[${bare.replace(/%.*$/s, '')}]` : text)
  if (host === undefined || host === '') return undefined
  const at = numberOf(host)
  if (at === undefined) return /^[^.]+(\.[^.]+)*$/.test(host) ? { kind: 'name', host } : undefined
  const decimal = isV6 ? undefined : decimalReading(text)
  const shown = isV4(at) ? v4Text(at) : host
  return {
    kind: 'addresses',
    host: shown,
    ranges: [single(at), ...(decimal === undefined ? [] : [single(decimal)])],
  }
}

/** The ranges of a text that is an address. */
export const addressRanges = (address: string): readonly Range[] => {
  const host = readHost(address)
  return host?.kind === 'addresses' ? host.ranges : []
}

export const isV4 = (at: bigint): boolean => at >= V4_BASE && at <= V4_BASE + V4_ALL
/** An address in its usual form. */
export const addressText = (at: bigint): string => {
  if (isV4(at)) return v4Text(at)
  const words = Array.from({ length: 8 }, (_, word) =>
    ((at >> BigInt(112 - 16 * word)) & 0xffffn).toString(16),
  )
  return usual(`[${words.join(':')}]`) ?? ''
}

const v4Text = (at: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => String((at >> shift) & 0xffn)).join('.')

/** An address range, and whether its first address is the one in the text: 10.0.0.5/8 is not. */
export interface Network {
  readonly range: Range
  readonly isExact: boolean
}

/** A network like 10.0.0.0/8 or 2001:db8::/32. */
export const readNetwork = (text: string): Network | undefined => {
  const [, address = '', prefix = ''] = /^(.*)\/(\d{1,3})$/s.exec(text) ?? []
  const host = prefix === '' ? undefined : readHost(address)
  const [first] = host?.kind === 'addresses' ? host.ranges : []
  if (host?.kind !== 'addresses' || first === undefined || host.ranges.length > 1) return undefined
  const isMapped = address.includes(':')
  const bits = isMapped ? BITS : V4_BITS
  if (Number(prefix) > bits) return undefined
  const size = 1n << BigInt(bits - Number(prefix))
  const lo = (first.lo / size) * size
  return { range: { lo, hi: lo + size - 1n }, isExact: lo === first.lo }
}

const OCTETS = /^[\d*][\d*,-]*(\.[\d*][\d*,-]*){3}$/

/** The first and last value of a part of an address like 1-5, 1,7 or *; undefined if it is none. */
const octet = (part: string): readonly [number, number] | undefined => {
  if (part === '*' || part === '-') return [0, 255]
  const ends = part.split(',').map((one) => {
    const [, from = '', to = from] = /^(\d{1,3})(?:-(\d{0,3}))?$/.exec(one) ?? []
    return [from === '' ? NaN : Number(from), to === '' ? 255 : Number(to)] as const
  })
  const lo = Math.min(...ends.map(([from]) => from))
  const hi = Math.max(...ends.map(([, to]) => to))
  return ends.every(([from, to]) => from <= to && to <= 255) ? [lo, hi] : undefined
}

/** Addresses from the first to the last one that a text like 10.0.0-3.1-9 or 10.0.0.1-10.0.0.9 names. */
export const readAddressRange = (text: string): Range | undefined => {
  const [from = '', to, ...more] = text.split('-')
  if (to !== undefined && more.length === 0 && DOTTED.test(from) && DOTTED.test(to)) {
    const [lo, hi] = [readHost(from), readHost(to)].map((end) =>
      end?.kind === 'addresses' && end.ranges.length === 1 ? end.ranges[0]?.lo : undefined,
    )
    return lo !== undefined && hi !== undefined && lo <= hi ? { lo, hi } : undefined
  }
  if (!/[*,-]/.test(text) || !OCTETS.test(text)) return undefined
  const parts = text.split('.').map(octet)
  const known = parts.filter((part) => part !== undefined)
  return known.length === parts.length
    ? { lo: v4Number(known.map(([lo]) => lo)), hi: v4Number(known.map(([, hi]) => hi)) }
    : undefined
}

const NAT64 = v6Number('64:ff9b::')
const SIX_TO_FOUR = 0x2002n

/** The IPv6 addresses by which a gateway contacts these IPv4 addresses. */
export const embedding = ({ lo, hi }: Range): readonly Range[] => [
  { lo: NAT64 + lo - V4_BASE, hi: NAT64 + hi - V4_BASE },
  {
    lo: (SIX_TO_FOUR << 112n) + ((lo - V4_BASE) << 80n),
    hi: (SIX_TO_FOUR << 112n) + ((hi - V4_BASE + 1n) << 80n) - 1n,
  },
]

/** The IPv4 address that a gateway for this IPv6 address contacts, if there is one. */
export const embedded = ({ lo, hi }: Range): Range | undefined => {
  if (lo >= NAT64 && hi <= NAT64 + V4_ALL) return { lo: V4_BASE + lo - NAT64, hi: V4_BASE + hi - NAT64 }
  if (lo >> 112n !== SIX_TO_FOUR || hi >> 112n !== SIX_TO_FOUR) return undefined
  return { lo: V4_BASE + ((lo >> 80n) & V4_ALL), hi: V4_BASE + ((hi >> 80n) & V4_ALL) }
}
