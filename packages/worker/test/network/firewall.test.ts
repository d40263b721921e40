import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, jest, test } from '@jest/globals'
import { boundaryOf } from '@scanfarm/contracts'
import { ForbiddenNetwork } from '../../src/network/forbidden.ts'
import { rulesetOf } from '../../src/network/ruleset.ts'
import { canFilter } from '../harness/can-filter.ts'
import { TEST_MS } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const rules = { name: 's', valid_from: null, valid_until: null, windows: [], zone: 'UTC' }

const withRules = canFilter ? describe : describe.skip

withRules('Packets of commands', () => {
  test('None reaches a forbidden address, however it is sent, and rules end with their run', async () => {
    const program = join(import.meta.dirname, '../harness/firewall-program.ts')
    const { stdout } = await promisify(execFile)('unshare', ['-n', process.execPath, program])
    const told = Object.assign(
      {},
      ...stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ) as unknown
    const sent = { blocked: ['198.51.100.200'], packets: 'all to it', forbidden: 0, allowed: true }
    expect(told).toEqual({
      nothing: { watch: null, tables: [] },
      connect: sent,
      'raw socket': sent,
      'packet socket': sent,
      udp: sent,
      arp: sent,
      others: { blocked: ['198.51.100.10', '2001:db8:2::5'], arrived: 0 },
      'a later device': 'covered',
      ends: { whileShared: 0, ofOther: true, after: true },
      tables: { left: [], held: 2, remaining: 2, swept: 0 },
    })
  })
})

test('Rules have the addresses of networks and names, also as gateways for IPv6 write them', async () => {
  const network = new ForbiddenNetwork(
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
  const { add } = rulesetOf('t', await network.parts(new Set()))
  for (const element of [
    '192.0.2.0-192.0.3.7',
    '64:ff9b:0:0:0:0:c000:200-64:ff9b:0:0:0:0:c000:307',
    '198.51.100.7',
  ])
    expect(add).toContain(element)
  expect(add).toMatch(/ip daddr @\w+ meta l4proto .* th dport \{ 25 \} goto blocked/)
  expect(add).toContain('2001:db8:0:0:0:0:0:7')
  // A name that the run scans has the same address.
  const shared = rulesetOf('t', await network.parts(new Set(['www.example']))).add
  expect(shared).not.toContain('198.51.100.7')
  expect(shared).toContain('2001:db8:0:0:0:0:0:7')
})
