import { expect, test } from '@jest/globals'
import type { ClaimedRun, ScopeRules } from '@scanfarm/contracts'
import { createMetrics } from '@scanfarm/platform'
import { Boundaries } from '../../src/run/boundaries.ts'
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
    { boundary: async () => ({ scopes: [RULES], neverScan: [] }) },
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
