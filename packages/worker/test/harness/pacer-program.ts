/** Opens connections as users with and without a rate. With `hold`: keeps a rate until it is killed. */
import { once } from 'node:events'
import { setServers } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { silentLogger } from '@scanfarm/platform'
import { until } from '@scanfarm/testing'
import { networkDevices } from '../../src/network/devices.ts'
import { NO_FENCE } from '../../src/network/fences.ts'
import { Firewall } from '../../src/network/firewall.ts'
import { Pacer } from '../../src/network/pacer.ts'
import { hold, holdIn, nmap, run, report } from './namespace.ts'

const UID = 61_001
const OTHER = 61_002
const RATE = 10
/** nmap takes late answers as answers. */
const PATIENT = ['--min-rtt-timeout', '30s', '--max-rtt-timeout', '30s', '--initial-rtt-timeout', '30s']
const SERVERS = 20

const disciplines = (): string => run('tc', 'qdisc', 'show')

/** Packets that left a device in their turn. */
const sent = (device: string): number =>
  Number(/Sent \d+ bytes (\d+) pkt/.exec(run('tc', '-s', 'class', 'show', 'dev', device))?.[1] ?? 0)
const counted = (device: string, work: () => unknown): number => {
  const before = sent(device)
  work()
  return sent(device) - before
}

if (process.argv[2] === 'hold') {
  const firewall = await Firewall.open(silentLogger)
  await firewall.begin(UID, {}, NO_FENCE, { rate: RATE })
  hold()
} else {
  run('ip', 'link', 'set', 'lo', 'up')
  run('ip', 'link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'v1')
  for (const device of ['v0', 'v1']) run('ip', 'link', 'set', device, 'up')
  run('ip', 'addr', 'add', '198.51.100.1/24', 'dev', 'v0')
  run('ip', '-6', 'addr', 'add', '2001:db8:1::1/64', 'dev', 'v0', 'nodad')
  for (const address of ['198.51.100.10', '2001:db8:1::10'])
    run('ip', 'neigh', 'add', address, 'lladdr', '02:00:00:00:00:01', 'dev', 'v0')
  run('tc', 'qdisc', 'add', 'dev', 'v1', 'root', 'handle', '1:', 'pfifo')
  const before = disciplines()

  const servers = Array.from({ length: SERVERS }, () => createServer((socket) => socket.destroy()))
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  const connect = (uid: number, ...to: number[]): number =>
    nmap(uid, '-Pn', '-sT', ...PATIENT, '-p', to.join(), '127.0.0.1').match(/ open /g)?.length ?? 0

  setServers(['198.51.100.10'])
  syncBuiltinESMExports()
  const firewall = await Firewall.open(silentLogger)
  const holder = {}
  const [proxyPort = 0] = ports
  await firewall.begin(UID, holder, NO_FENCE, { rate: RATE, proxyPort })
  report({ gap: firewall.paceGap })
  const started = performance.now()
  let open = 0
  // One goes to the proxy.
  const waited = counted('lo', () => (open = connect(UID, ...ports)))
  const tookMs = performance.now() - started
  report({ paced: { open, waited: waited >= SERVERS - 1, slow: tookMs > ((SERVERS - 4) / RATE) * 1_000 } })
  report({ proxy: counted('lo', () => connect(UID, proxyPort)) })
  report({ other: counted('lo', () => (open = connect(OTHER, ...ports))), open })

  const away = ['-Pn', '-p', '80']
  for (const [name, args] of Object.entries({
    connect: ['-sT', '198.51.100.10'],
    'raw socket': ['-sS', '--send-ip', '--disable-arp-ping', '198.51.100.10'],
    'packet socket': ['-sS', '--send-eth', '--disable-arp-ping', '198.51.100.10'],
    IPv6: ['-6', '-sT', '2001:db8:1::10'],
    UDP: ['-sU', '--disable-arp-ping', '198.51.100.10'],
    'UDP in IPv6': ['-6', '-sU', '--disable-arp-ping', '2001:db8:1::10'],
  }))
    report({ [name]: counted('v0', () => nmap(UID, ...away, ...args)) > 0 })

  const lookUp = ['-Pn', '-p', '53', '-sU', '--disable-arp-ping', '198.51.100.10']
  report({ 'name server': counted('v0', () => nmap(UID, ...lookUp)) })

  const third = {}
  const slow = await firewall.begin(OTHER, third, NO_FENCE, { rate: 0.1 })
  nmap(OTHER, ...away, '-sT', '127.0.0.1')
  const few = (await slow?.blocked())?.late
  nmap(OTHER, '-Pn', '-sT', '-p', ports.join(), '--host-timeout', '1s', '127.0.0.1')
  report({ late: { few, many: ((await slow?.blocked())?.late ?? 0) > 0 } })
  await firewall.end(OTHER, third)

  run('ip', 'link', 'add', 'w0', 'type', 'veth', 'peer', 'name', 'w1')
  await until(() => run('tc', 'class', 'show', 'dev', 'w0').includes('rate 80Kbit'))
  run('ip', 'link', 'del', 'w0')
  const second = {}
  await firewall.begin(UID, second, NO_FENCE, { rate: 0.5 })
  const both = run('tc', 'class', 'show', 'dev', 'lo')
  await firewall.end(UID, second)
  await firewall.end(UID, holder)
  report({ rates: { both: both.includes('rate 84Kbit'), none: run('tc', 'class', 'show', 'dev', 'lo') } })
  await firewall[Symbol.asyncDispose]()
  report({ 'as before': disciplines() === before })

  const kill = await holdIn(import.meta.filename)
  const other = await Firewall.open(silentLogger)
  await other[Symbol.asyncDispose]()
  const held = disciplines() !== before
  await kill()
  await using _next = await Firewall.open(silentLogger)
  report({ killed: { held, after: disciplines() === before } })

  using pacer = new Pacer()
  const [lo] = [...networkDevices()].filter(([, name]) => name === 'lo')
  if (lo !== undefined) await pacer.set(new Map([[UID, 1]]), new Map([['gone#99', 'gone'], lo]))
  report({ gone: pacer.gap ?? run('tc', 'class', 'show', 'dev', 'lo').includes('rate 8Kbit') })

  const tc = run('sh', '-c', 'command -v tc').trim()
  run('mount', '--bind', '/dev/null', tc)
  await using without = await Firewall.open(silentLogger)
  await without.begin(UID, {}, NO_FENCE, { rate: RATE })
  report({ 'without tc': { gap: without.paceGap, tables: run('nft', 'list', 'tables') } })
  for (const server of servers) server.close()
}
