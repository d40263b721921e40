/** Sends packets to a device that counts them. With the argument `hold`: keeps rules until it is killed. */
import { execFileSync } from 'node:child_process'
import { boundaryOf } from '@scanfarm/contracts'
import { silentLogger } from '@scanfarm/platform'
import { until } from '@scanfarm/testing'
import { Fences, NO_FENCE, type Fence } from '../../src/network/fences.ts'
import { Firewall } from '../../src/network/firewall.ts'
import { busyUids } from '../../src/network/table-names.ts'
import { hold, holdIn, nmap, run, report } from './namespace.ts'

const UID = 61_001
const OTHER = 61_002
const ALLOWED = '198.51.100.10'
const FORBIDDEN = '198.51.100.200'
const FORBIDDEN_V6 = '2001:db8:2::5'

const tables = (): string[] =>
  run('nft', 'list', 'tables')
    .split('\n')
    .filter((line) => line.includes('scanfarm'))
const scope = (allowed: string[], denied: string[], enforcement: 'checked' | 'kernel'): Promise<Fence> => {
  const rules = {
    name: 'test',
    allowed,
    denied,
    valid_from: null,
    valid_until: null,
    windows: [],
    zone: 'UTC',
  }
  return new Fences(boundaryOf([{ ...rules, enforcement }], []), async () => []).of(new Set())
}
const forbidden = (...denied: string[]): Promise<Fence> => scope(['*'], denied, 'checked')

const RULES = await forbidden('198.51.100.128/25', '2001:db8:2::/48', `${ALLOWED}:99`)

const MACHINE = `
link set lo up
link add v0 type veth peer name v1
link set v0 up
link set v1 up
addr add 198.51.100.1/24 dev v0
-6 addr add 2001:db8:1::1/64 dev v0 nodad
-6 route add 2001:db8:2::/48 dev v0
`
const COUNTER = `table netdev arrived {
set seen { type ipv4_addr; flags dynamic; counter; }
set seen6 { type ipv6_addr; flags dynamic; counter; }
chain c {
type filter hook ingress device "v1" priority 0; policy accept;
update @seen { ip daddr }
update @seen { arp daddr ip }
update @seen6 { ip6 daddr }
}
}
`

/** How often a packet for an address has arrived. */
const arrived = (address: string): number => {
  const set = run('nft', 'list', 'set', 'netdev', 'arrived', address.includes(':') ? 'seen6' : 'seen')
  return Number(new RegExp(`[ {,\\t]${address} counter packets (\\d+)`).exec(set)?.[1] ?? 0)
}

const SENDERS = {
  connect: ['-sT', '-Pn', '-p', '80'],
  'raw socket': ['-sS', '-Pn', '-p', '80', '--send-ip', '--disable-arp-ping'],
  'packet socket': ['-sS', '-Pn', '-p', '80', '--send-eth', '--disable-arp-ping'],
  udp: ['-sU', '-Pn', '-p', '53', '--send-ip', '--disable-arp-ping'],
  arp: ['-sn', '-PR'],
} as const

if (process.argv[2] === 'hold') {
  const firewall = await Firewall.open(silentLogger)
  await firewall.begin(UID, {}, RULES)
  hold()
} else {
  for (const line of MACHINE.trim().split('\n')) run('ip', ...line.split(' '))
  const [, mac = ''] = /link\/ether (\S+)/.exec(run('ip', 'link', 'show', 'v1')) ?? []
  for (const address of [ALLOWED, FORBIDDEN, FORBIDDEN_V6])
    run('ip', 'neigh', 'add', address, 'lladdr', mac, 'dev', 'v0')
  execFileSync('nft', ['-f', '-'], { input: COUNTER })

  const firewall = await Firewall.open(silentLogger)
  const none = await firewall.begin(UID, {}, NO_FENCE)
  report({ nothing: { watch: none ?? null, tables: tables() } })

  const holder = {}
  for (const [name, args] of Object.entries(SENDERS)) {
    const watch = await firewall.begin(UID, holder, RULES)
    const before = arrived(ALLOWED)
    nmap(UID, ...args, FORBIDDEN, ALLOWED)
    const { packets, addresses = new Map<string, number>() } = (await watch?.blocked()) ?? {}
    report({
      [name]: {
        blocked: [...addresses.keys()],
        packets: packets === addresses.get(FORBIDDEN) ? 'all to it' : packets,
        forbidden: arrived(FORBIDDEN),
        allowed: arrived(ALLOWED) > before,
      },
    })
  }
  const watch = await firewall.begin(UID, holder, RULES)
  nmap(UID, '-6', '-sT', '-Pn', '-p', '80', FORBIDDEN_V6)
  const before = arrived(ALLOWED)
  nmap(UID, '-sT', '-Pn', '-p', '99', ALLOWED)
  report({
    others: {
      blocked: [...((await watch?.blocked())?.addresses.keys() ?? [])].sort(),
      arrived: arrived(FORBIDDEN_V6) + arrived(ALLOWED) - before,
    },
  })

  run('ip', 'link', 'add', 'w0', 'type', 'veth', 'peer', 'name', 'w1')
  await until(() =>
    run('nft', 'list', 'table', 'netdev', tables()[0]?.split(' ').at(-1) ?? '').includes('"w0"'),
  )
  report({ 'a later device': 'covered' })

  // Of two that are not forbidden, only one is allowed.
  const other = '198.51.100.11'
  run('ip', 'neigh', 'add', other, 'lladdr', mac, 'dev', 'v0')
  const narrow = {}
  await firewall.begin(UID, narrow, await scope([ALLOWED], [], 'kernel'))
  const reached = arrived(ALLOWED)
  for (const args of Object.values(SENDERS)) nmap(UID, ...args, other, ALLOWED)
  const others = arrived(other)
  await firewall.end(UID, narrow)
  nmap(UID, '-sT', '-Pn', '-p', '80', other)
  report({
    'what is not allowed': { others, allowed: arrived(ALLOWED) > reached, asked: arrived(other) > 0 },
  })

  // What another run in the workspace forbids remains.
  const second = {}
  await firewall.begin(UID, second, await forbidden(FORBIDDEN))
  await firewall.end(UID, holder)
  nmap(UID, '-sT', '-Pn', '-p', '80', FORBIDDEN)
  const whileShared = arrived(FORBIDDEN)
  nmap(OTHER, '-sT', '-Pn', '-p', '80', FORBIDDEN)
  const ofOther = arrived(FORBIDDEN)
  await firewall.end(UID, second)
  // Nothing of the user is left, or each further change would take longer.
  await until(() => !new RegExp(`chain u${UID}\\b|\\b${UID} :`).test(run('nft', 'list', 'ruleset')))
  nmap(UID, '-sT', '-Pn', '-p', '80', FORBIDDEN)
  report({ ends: { whileShared, ofOther: ofOther > 0, after: arrived(FORBIDDEN) > ofOther } })
  await firewall[Symbol.asyncDispose]()
  const left = tables()

  const kill = await holdIn(import.meta.filename)
  const held = tables().length
  await kill()
  const remaining = tables().length
  // The rules of a user that has processes remain: another run of this test, or one that ends, may have some.
  await until(() => !busyUids().has(UID))
  await using next = await Firewall.open(silentLogger)
  report({ tables: { left, held, remaining, swept: tables().length } })
  await next.end(UID, {})
}
