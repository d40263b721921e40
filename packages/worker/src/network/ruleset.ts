import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { embedding, V4_ALL, V4_BASE, type NetworkPart, type PortRange, type Range } from '@scanfarm/contracts'
import type { Fence } from './fences.ts'
import type { Helpers } from './helpers.ts'

/** Rules of a boundary for the table of a worker. Equal boundaries have the same name. */
export interface Ruleset {
  readonly name: string
  /** Statements that add its sets and chains, in both families. */
  readonly add: string
  /** Removes them. */
  readonly remove: string
}

export const FAMILIES = ['inet', 'netdev'] as const
export type Family = (typeof FAMILIES)[number]

const v4Text = (at: bigint): string => [24n, 16n, 8n, 0n].map((by) => String((at >> by) & 0xffn)).join('.')
const v6Text = (at: bigint): string =>
  Array.from({ length: 8 }, (_, word) => ((at >> BigInt(112 - 16 * word)) & 0xffffn).toString(16)).join(':')

const element = ({ lo, hi }: Range, text: (at: bigint) => string): string =>
  lo === hi ? text(lo) : `${text(lo)}-${text(hi)}`

/** The IPv4 addresses of a range. */
const v4Of = ({ lo, hi }: Range): Range[] => {
  const from = lo < V4_BASE ? V4_BASE : lo
  const to = hi > V4_BASE + V4_ALL ? V4_BASE + V4_ALL : hi
  return from <= to ? [{ lo: from, hi: to }] : []
}

/** In order and without overlaps: nft takes far longer to merge them. */
const merged = (ranges: readonly Range[]): Range[] => {
  const found: { lo: bigint; hi: bigint }[] = []
  for (const { lo, hi } of ranges.toSorted((a, b) => (a.lo < b.lo ? -1 : a.lo > b.lo ? 1 : 0))) {
    const last = found.at(-1)
    if (last === undefined || lo > last.hi + 1n) found.push({ lo, hi })
    else if (hi > last.hi) last.hi = hi
  }
  return found
}

const isV4Only = ({ lo, hi }: Range): boolean => lo >= V4_BASE && hi <= V4_BASE + V4_ALL

/** Elements of sets. A packet for an IPv4 address may also travel in IPv6, to a gateway. */
const elementsOf = (ranges: readonly Range[]): { v4: string[]; v6: string[] } => {
  const v4 = merged(ranges.flatMap(v4Of))
  const v6 = merged([...ranges.filter((range) => !isV4Only(range)), ...v4.flatMap(embedding)])
  return {
    v4: v4.map(({ lo, hi }) => element({ lo: lo - V4_BASE, hi: hi - V4_BASE }, v4Text)),
    v6: v6.map((range) => element(range, v6Text)),
  }
}

const portsText = (ports: readonly PortRange[]): string =>
  ports.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ')

/** Protocols whose headers begin with two ports. */
const WITH_PORTS = 'meta l4proto { tcp, udp, sctp, dccp, udplite }'

/** Sets of the packets that were not sent, or late, by uid. */
export const HITS = { total: 'total', v4: 'hits4', v6: 'hits6', late: 'late' } as const

/** The map that leads from each uid to its rules. */
export const USERS = 'by_user'

/**
 * The table of a worker. `users` leads to the rules of each uid. `blocked` counts packets of a uid by their destination, and
 * does not send them.
 */
export const tableText = (table: string): string =>
  FAMILIES.map((family) => {
    const verdict =
      family === 'inet'
        ? // Programs learn at once that the packet was not sent. The answer to another source would leave the machine.
          ['fib saddr type local reject with icmpx type admin-prohibited', 'drop']
        : ['drop']
    const count = [
      `update @${HITS.total} { meta skuid }`,
      `update @${HITS.v4} { meta skuid . ip daddr }`,
      `update @${HITS.v6} { meta skuid . ip6 daddr }`,
    ]
    const set = (name: string, type: string): string =>
      `set ${name} { type ${type}; size 65535; flags dynamic,timeout; timeout 1h; counter; }`
    return [
      `table ${family} ${table} {`,
      ...[HITS.total, HITS.late].map((name) =>
        set(name, 'uid').replace('dynamic,timeout; timeout 1h', 'dynamic'),
      ),
      set(HITS.v4, 'uid . ipv4_addr'),
      set(HITS.v6, 'uid . ipv6_addr'),
      `chain blocked {\n${[...count, ...verdict].join('\n')}\n}`,
      `map ${USERS} { type uid : verdict; }`,
      `chain users {\nmeta skuid vmap @${USERS}\n}`,
      ...(family === 'inet'
        ? [outputChain]
        : [
            `chain blocked_arp {\nupdate @${HITS.total} { meta skuid }\nupdate @${HITS.v4} { meta skuid . arp daddr ip }\ndrop\n}`,
            `chain odd {\n${ODD_FRAMES.map((match) => `${match} goto blocked`).join('\n')}\n}`,
          ]),
      '}',
    ].join('\n')
  }).join('\n')

/** Before addresses are translated: `netdev` sees those that they are translated to. */
const outputChain = `chain output {
type filter hook output priority raw; policy accept;
jump users
}`

/** Frames that tools write to a device themselves and whose content is not what they say, or has no address to compare. */
const ODD_FRAMES = [
  'meta protocol != { ip, ip6, arp }',
  'meta oiftype { ether, loopback } meta protocol ip @ll,96,16 != 0x0800',
  'meta oiftype { ether, loopback } meta protocol ip6 @ll,96,16 != 0x86dd',
  'meta oiftype { ether, loopback } meta protocol arp @ll,96,16 != 0x0806',
  'meta oiftype != { ether, loopback } meta protocol arp',
  'ip version != 4',
  'ip6 version != 6',
]

/** Frames to one device. */
export const deviceChain = (table: string, chain: string, device: string): string => `table netdev ${table} {
chain ${chain} {
type filter hook egress device "${device}" priority 0; policy accept;
jump users
}
}`

interface AddressSet {
  readonly name: string
  readonly type: string
  readonly elements: readonly string[]
}

/** Matches of packets to these addresses. */
interface Matches {
  readonly sets: readonly AddressSet[]
  /** In IPv4 and IPv6. */
  readonly packets: readonly string[]
  readonly arp: readonly string[]
}

/** `asksOf`: whether ARP may ask, or not ask, for an address of which only these ports are meant. */
const matchesOf = (
  prefix: string,
  parts: readonly NetworkPart[],
  asksOf: (ports: NetworkPart['ports']) => boolean,
): Matches => {
  const sets: AddressSet[] = []
  const packets: string[] = []
  const arp: string[] = []
  for (const [index, { ports, ranges }] of parts.entries()) {
    const { v4, v6 } = elementsOf(ranges)
    const where = ports === undefined ? '' : ` ${WITH_PORTS} th dport { ${portsText(ports)} }`
    for (const [family, type, match, elements] of [
      ['4', 'ipv4_addr', 'ip daddr', v4],
      ['6', 'ipv6_addr', 'ip6 daddr', v6],
    ] as const) {
      if (elements.length === 0) continue
      const name = `${prefix}_${index}_${family}`
      sets.push({ name, type, elements })
      packets.push(`${match} @${name}${where}`)
      if (family === '4' && asksOf(ports)) arp.push(`arp daddr ip @${name}`)
    }
  }
  return { sets, packets, arp }
}

/** Raw senders ask the hosts of their link for a hardware address of IPv6, by a multicast that routers do not forward. */
const SOLICITATION = 'ip6 daddr ff02::1:ff00:0/104 icmpv6 type nd-neighbor-solicit return'

const chainText = (name: string, lines: readonly string[]): string =>
  `chain ${name} {\n${lines.join('\n')}\n}`

/** A chain that returns for packets that are allowed, and blocks the others. */
const allowedChain = (
  family: Family,
  name: string,
  { packets, arp }: Matches,
  { nameServers, routers }: Helpers,
): string => {
  const asked = nameServers.map(
    (server) => `${isIPv4(server) ? 'ip' : 'ip6'} daddr ${server} meta l4proto { tcp, udp } th dport 53`,
  )
  const arps = [...arp, ...routers.map((router) => `arp daddr ip ${router}`)]
  return chainText(name, [
    ...[...packets, ...asked].map((match) => `${match} return`),
    SOLICITATION,
    ...(family === 'netdev'
      ? [...arps.map((match) => `${match} return`), 'meta protocol arp goto blocked_arp']
      : []),
    'goto blocked',
  ])
}

/** The rules of a fence. */
export const rulesetOf = (table: string, { forbidden, allowed }: Fence, helpers: Helpers): Ruleset => {
  const refused = matchesOf('%%', forbidden, (ports) => ports === undefined)
  const lists = allowed.map((parts, index) => {
    const name = `%%_a${index}`
    return { name, ...matchesOf(name, parts, () => true) }
  })
  const sets = [refused, ...lists].flatMap((matches) => matches.sets)
  const body = (family: Family): string =>
    [
      `table ${family} ${table} {`,
      ...sets.map(
        ({ name, type, elements }) =>
          `set ${name} { type ${type}; flags interval; elements = { ${elements.join(',\n')} } }`,
      ),
      ...lists.map((list) => allowedChain(family, list.name, list, helpers)),
      chainText('%%', [
        ...refused.packets.map((match) => `${match} goto blocked`),
        ...(family === 'netdev'
          ? [...refused.arp.map((match) => `${match} goto blocked_arp`), 'jump odd']
          : []),
        ...lists.map(({ name }) => `jump ${name}`),
      ]),
      '}',
    ].join('\n')
  const text = FAMILIES.map(body).join('\n')
  const name = `b${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
  const chains = ['%%', ...lists.map((list) => list.name)]
  return {
    name,
    add: text.replaceAll('%%', name),
    remove: FAMILIES.flatMap((family) => [
      ...chains.map((chain) => `delete chain ${family} ${table} ${chain}`),
      ...sets.map((set) => `delete set ${family} ${table} ${set.name}`),
    ])
      .join('\n')
      .replaceAll('%%', name),
  }
}
