import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, jest, test } from '@jest/globals'
import { boundaryOf } from '@scanfarm/contracts'
import { Fences } from '../../src/network/fences.ts'
import { routersIn } from '../../src/network/helpers.ts'
import { execute, NftSession } from '../../src/network/nft.ts'
import { rulesetOf } from '../../src/network/ruleset.ts'
import { canDelay, canFilter } from '../harness/can-filter.ts'
import { TEST_MS } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const rules = {
  name: 's',
  valid_from: null,
  valid_until: null,
  windows: [],
  zone: 'UTC',
  enforcement: 'checked' as const,
}
const NO_HELPERS = { nameServers: [], routers: [] }

/** The output of a program in its own network namespace. */
const reportOf = async (program: string): Promise<unknown> => {
  const file = join(import.meta.dirname, '../harness', program)
  const { stdout } = await promisify(execFile)('unshare', ['-nm', process.execPath, file])
  const lines = stdout.trim().split('\n')
  return Object.assign({}, ...lines.map((line) => JSON.parse(line) as object)) as unknown
}

const withRules = canFilter ? describe : describe.skip
const withDelay = canDelay ? describe : describe.skip

withRules('Packets of commands', () => {
  test('None reaches a forbidden address, however it is sent, and rules end with their run', async () => {
    const report = await reportOf('firewall-program.ts')
    const sent = { blocked: ['198.51.100.200'], packets: 'all to it', forbidden: 0, allowed: true }
    expect(report).toEqual({
      nothing: { watch: null, tables: [] },
      connect: sent,
      'raw socket': sent,
      'packet socket': sent,
      udp: sent,
      arp: sent,
      others: { blocked: ['198.51.100.10', '2001:db8:2::5'], arrived: 0 },
      'a later device': 'covered',
      'what is not allowed': { others: 0, allowed: true, asked: true },
      ends: { whileShared: 0, ofOther: true, after: true },
      tables: { left: [], held: 2, remaining: 2, swept: 0 },
    })
  })
})

withRules('The nft of a worker', () => {
  test('It leaves no history, and is replaced before it has become slow', async () => {
    const name = `none-${randomUUID()}`
    await execute('nft', ['-i'], `list tables\nlist table inet "${name}"\nlist tables\n`)
    const history = '/.nft.history'
    expect(existsSync(history) && readFileSync(history, 'utf8').includes(name)).toBe(false)
    const session = new NftSession()
    try {
      const lists = Array.from({ length: 99 }, () => 'list tables')
      for (let asked = 0; asked < 20; asked += 1) {
        expect(session.isWorn).toBe(false)
        expect(await session.ask('', lists)).toHaveLength(lists.length)
      }
      expect(session.isWorn).toBe(true)
    } finally {
      session.end()
    }
  })
})

withDelay('New connections of commands', () => {
  test('They wait for the rate of their user on each device, which the worker gives back', async () => {
    expect(await reportOf('pacer-program.ts')).toEqual({
      gap: 'v1 has its own queueing discipline (pfifo)',
      paced: { open: 20, waited: true, slow: true },
      proxy: 0,
      other: 0,
      open: 20,
      connect: true,
      'raw socket': true,
      'packet socket': true,
      IPv6: true,
      UDP: true,
      'UDP in IPv6': true,
      'name server': 0,
      late: { few: 0, many: true },
      rates: { both: true, none: '' },
      'as before': true,
      killed: { held: true, after: true },
      gone: true,
      'without tc': { gap: 'tc: spawn tc EACCES; iproute2 is needed', tables: '' },
    })
  })
})

test('Rules have the addresses of networks and names, also as gateways for IPv6 write them', async () => {
  const fences = new Fences(
    boundaryOf(
      [
        {
          ...rules,
          allowed: ['*'],
          denied: ['192.0.2.0/24', '192.0.2.255-192.0.3.7', 'a.example', 'b.example:25'],
        },
      ],
      [],
    ),
    async (name) =>
      ({ 'a.example': ['198.51.100.7', '2001:db8::7'], 'b.example': ['198.51.100.8'] })[name] ?? [
        '198.51.100.7',
      ],
  )
  const { add } = rulesetOf('t', await fences.of(new Set()), NO_HELPERS)
  for (const element of [
    '192.0.2.0-192.0.3.7',
    '64:ff9b:0:0:0:0:c000:200-64:ff9b:0:0:0:0:c000:307',
    '198.51.100.7',
  ])
    expect(add).toContain(element)
  expect(add).toMatch(/ip daddr @\w+ meta l4proto .* th dport \{ 25 \} goto blocked/)
  expect(add).toContain('2001:db8:0:0:0:0:0:7')
  // A name that the run scans has the same address.
  const shared = rulesetOf('t', await fences.of(new Set(['www.example'])), NO_HELPERS).add
  expect(shared).not.toContain('198.51.100.7')
  expect(shared).toContain('2001:db8:0:0:0:0:0:7')
})

test('A scope that the kernel enforces allows its addresses, those of names below its domains, and name servers', async () => {
  const scope = {
    ...rules,
    allowed: ['*.in.example:443', '192.0.2.0/25'],
    denied: [],
    enforcement: 'kernel' as const,
  }
  const fences = new Fences(
    boundaryOf([scope, { ...scope, name: 'other', allowed: ['*'] }], []),
    async (name) => [name === 'a.in.example' ? '198.51.100.7' : '198.51.100.8'],
  )
  const fence = await fences.of(new Set(['a.in.example', 'b.example']))
  const { add, remove } = rulesetOf('t', fence, {
    nameServers: ['192.0.2.53', '2001:db8::53'],
    routers: ['10.0.0.1'],
  })
  expect(add).toContain('elements = { 192.0.2.0-192.0.2.127 }')
  // That of in.example is 198.51.100.8; b.example is not below it.
  expect(add).toContain('elements = { 198.51.100.7-198.51.100.8 }')
  expect(add).toMatch(/ip daddr @\w+ meta l4proto .* th dport \{ 443 \} return/)
  expect(add).toContain('ip daddr 192.0.2.53 meta l4proto { tcp, udp } th dport 53 return')
  expect(add).toContain('ip6 daddr 2001:db8::53 meta')
  expect(add).toContain('arp daddr ip 10.0.0.1 return')
  // To one host it would be a packet that may leave the link.
  expect(
    add.match(/.*nd-neighbor-solicit.*/g)?.every((rule) => rule.startsWith('ip6 daddr ff02::1:ff')),
  ).toBe(true)
  expect(add.match(/jump b\w+_a\d/g)).toHaveLength(4)
  expect(remove.match(/delete chain/g)).toHaveLength(6)
})

test('Routers are those of the routing table of Linux', () => {
  const table = `Iface\tDestination\tGateway \tFlags
eth0\t00000000\t010011AC\t0003
eth0\t000011AC\t00000000\t0001
`
  expect(routersIn(table)).toEqual(['172.17.0.1'])
})
