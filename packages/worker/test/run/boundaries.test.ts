import { expect, test } from '@jest/globals'
import { LIMIT_KINDS, type ClaimedRun, type ScopeRules } from '@scanfarm/contracts'
import { createMetrics } from '@scanfarm/platform'
import { Boundaries } from '../../src/run/boundaries.ts'
import { LimitSpans } from '../../src/run/limit-spans.ts'
import { countRefusals } from '../../src/slots/metrics.ts'

const RULES: ScopeRules = {
  name: 'shop',
  allowed: ['*'],
  denied: ['192.0.2.0/24'],
  valid_from: null,
  valid_until: null,
  windows: [],
  zone: 'UTC',
  enforcement: 'checked',
}
const RUN = {
  runId: 1,
  attempt: 1,
  scopesVersion: 1,
  scopes: [1],
  workflowName: 'w',
} as unknown as ClaimedRun

const permission = (resolve: () => Promise<{ address: string; family: number }[]>, limitMs = 60_000) =>
  new Boundaries(
    {
      boundary: async () => ({ scopes: [RULES], neverScan: [], limited: [] }),
      takeLimits: async () => ({ rate: null }),
    },
    { resolve, limitMs },
  ).permission(RUN, 'a.example')
const failing = (code: string) => async () => {
  throw Object.assign(new Error(code), { code })
}

test('A name whose addresses cannot be found out is refused where addresses are forbidden', async () => {
  const unknown = (problem: string) => ({
    allowed: false,
    cause: 'unresolved',
    reason: `addresses are forbidden, and those of a.example are not known: ${problem}`,
  })
  expect(await permission(failing('EAI_AGAIN'))).toEqual(unknown('EAI_AGAIN'))
  expect(await permission(() => new Promise(() => {}), 20)).toEqual(unknown('no answer within 0.02 s'))
  expect(await permission(failing('ENOTFOUND'))).toEqual({ allowed: true })
  expect(await permission(async () => [{ address: '198.51.100.1', family: 4 }])).toEqual({
    allowed: true,
    addresses: ['198.51.100.1'],
  })
  expect(await permission(async () => [{ address: '192.0.2.1', family: 4 }])).toMatchObject({
    cause: 'denied',
  })
})

test('Refusals of requests and of runs are counted in one metric of a process', async () => {
  const registry = createMetrics()
  countRefusals(registry)('submit', 3)
  countRefusals(registry)('item')
  const text = await registry.metrics()
  expect(text).toContain('scanfarm_targets_refused_total{place="submit"} 3')
  expect(text).toContain('scanfarm_targets_refused_total{place="item"} 1')
})

test('A target counts for its addresses, their networks and its registrable domain', () => {
  const labels = (texts: readonly string[], addresses: string[] = []): string[] => {
    const spans = new LimitSpans(new Set(LIMIT_KINDS))
    for (const text of texts) spans.add(text, addresses)
    return spans.list().map(({ label }) => label)
  }
  expect(labels(['https://www.shop.co.uk:8443/x'], ['192.0.2.7', '2001:db8::1'])).toEqual([
    '192.0.2.7',
    '2001:db8::1',
    '192.0.2.0/24',
    '2001:db8::/64',
    'shop.co.uk',
  ])
  expect(labels(['192.0.2.7', '192.0.2.8'])).toEqual(['192.0.2.7', '192.0.2.8', '192.0.2.0/24'])
  expect(labels(['10.0.0.0/23'])).toEqual(['10.0.0.0-10.0.1.255', '10.0.0.0-10.0.1.255'])
  expect(labels(['localhost', '/etc/hosts', ''])).toEqual(['localhost'])
  const many = new LimitSpans(new Set(['per_address']))
  for (let host = 0; host < 2_500; host += 1) many.add(`10.0.${host >> 8}.${host & 255}`, [])
  expect(many.list().length).toBeLessThanOrEqual(1_000)
  const digits = (at: number): string => `00000000000000000000ffff${at.toString(16).padStart(8, '0')}`
  expect(many.list().map(({ lo }) => lo)).toContain(digits(0x0a00_0000))
  expect(many.list().map(({ hi }) => hi)).toContain(digits(0x0a00_0000 + 2_499))
})

test('A name whose addresses cannot be found out is refused where limits count addresses', async () => {
  const boundaries = new Boundaries(
    {
      boundary: async () => ({ scopes: [], neverScan: [], limited: ['per_network'] }),
      takeLimits: async () => ({ rate: null }),
    },
    { resolve: failing('EAI_AGAIN'), limitMs: 60_000 },
  )
  const spans = new LimitSpans(await boundaries.limited(RUN))
  expect(await boundaries.addSpans('a.example', spans)).toMatchObject({
    reason: 'limits count addresses, and those of a.example are not known: EAI_AGAIN',
  })
})
