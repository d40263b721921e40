import { afterEach, expect, test } from '@jest/globals'
import { createMetrics, silentLogger, startLoops } from '@scanfarm/platform'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { Dispatcher } from '../../src/loops/dispatcher.ts'
import { LostMessages } from '../../src/loops/lost-messages.ts'
import { createLoopMetrics } from '../../src/loops/metrics.ts'
import { KEEP_WORKERS_MS, pruneOnce } from '../../src/loops/prune.ts'
import { forceCancels } from '../../src/loops/recovery.ts'
import { farmLoops } from '../../src/loops/farm-loops.ts'
import type { LoopContext } from '../../src/loops/loop-context.ts'
import { openLoopHarness } from './_loop-harness.ts'

const never = new AbortController().signal
const log = silentLogger

const harness = forAllTests(() => openLoopHarness())
afterEach(async () => {
  await harness.reset()
})

const newDispatcher = (): Dispatcher => {
  const { outbox, workers } = harness.store
  return new Dispatcher({ outbox, workers, queue: harness.queue })
}

const dispatchAll = async (): Promise<void> => {
  const dispatcher = newDispatcher()
  while (await dispatcher.dispatchOnce());
}

const finder = (found: string[] = []) =>
  new LostMessages({
    recovery: harness.store.recovery,
    queue: harness.queue,
    onFound: (count, reason) => found.push(`${count} ${reason}`),
  })

/** The shortest lease that the settings allow; a reaper that starts waits for one lease. */
const LEASE_MS = 3_000

const start = (parts: Partial<LoopContext> = {}) =>
  startLoops(
    farmLoops({
      store: harness.store,
      queue: harness.queue,
      dispatcher: newDispatcher(),
      log,
      metrics: createMetrics(),
      config: { worker: { leaseMs: LEASE_MS }, runs: { maxAttempts: 3, cancelGraceMs: 1_000 } },
      ...parts,
    }),
    log,
  )

test('the search for lost messages finds nothing if nothing is lost', async () => {
  await harness.join()
  await harness.submit(5)
  await dispatchAll()
  await harness.submit(5)
  const found: string[] = []
  await finder(found).findOnce(never)
  expect(found).toEqual([])
})

test('the search finds every message lost in a flush, and none of a claimed run', async () => {
  const workerId = await harness.join()
  const { messages } = await harness.submit(2_500)
  await dispatchAll()
  const found: string[] = []
  const lost = finder(found)
  await lost.findOnce(never)
  await using consumer = harness.queue.consumer({ serves: () => true })
  const taken = await consumer.take(100, never)
  await harness.runStore.claim(workerId, taken)
  await Promise.all(taken.map((message) => message.ack()))

  await harness.redis.flush()
  await lost.findOnce(never)
  await dispatchAll()
  const claimed = new Set(taken.map(({ runId }) => runId))
  expect(await harness.queue.has(messages)).toEqual(messages.map(({ runId }) => !claimed.has(runId)))
  expect(found.every((line) => line.endsWith('generation'))).toBe(true)
  const before = found.length
  await lost.findOnce(never)
  expect(found).toHaveLength(before)
})

test('the search finds a single lost message after its run has waited for a minute', async () => {
  await harness.join()
  const { messages } = await harness.submit(3)
  await dispatchAll()
  const found: string[] = []
  const lost = finder(found)
  await lost.findOnce(never)
  await harness.queue.remove(messages.slice(1, 2))
  await harness.sql("update runs set updated_at = now() - interval '61 seconds'")
  await lost.findOnce(never)
  expect(found).toEqual(['1 age'])
  await dispatchAll()
  expect(await harness.queue.has(messages)).toEqual([true, true, true])
})

test('the search repeats a pass that was interrupted', async () => {
  await harness.join()
  const { messages } = await harness.submit(3)
  await dispatchAll()
  const lost = finder()
  await lost.findOnce(never)
  await harness.redis.kill()
  await expect(lost.findOnce(never)).rejects.toThrow()
  await harness.redis.restart()
  await until(() =>
    lost.findOnce(never).then(
      () => true,
      () => false,
    ),
  )
  await dispatchAll()
  expect(await harness.queue.has(messages)).toEqual([true, true, true])
})

test('a cancel that the worker does not answer is forced', async () => {
  const workerId = await harness.join()
  const { messages } = await harness.submit(1)
  const runId = messages[0]?.runId ?? 0
  await dispatchAll()
  await harness.runStore.claim(workerId, messages)
  await harness.store.runs.requestCancel(String(runId))
  const metrics = createLoopMetrics(createMetrics())
  const config = { worker: { leaseMs: LEASE_MS }, runs: { maxAttempts: 3, cancelGraceMs: 60_000 } }
  const parts = { store: harness.store, queue: undefined, config, metrics, log }
  await forceCancels(parts)
  expect((await harness.store.runs.find(String(runId)))?.status).toBe('running')
  await harness.sql("update runs set cancel_requested_at = now() - interval '65 seconds'")
  await forceCancels(parts)
  expect((await harness.store.runs.find(String(runId)))?.status).toBe('cancelled')
  expect((await metrics.repairs.get()).values).toContainEqual({
    labels: { repair: 'cancel_forced' },
    value: 1,
  })
})

test('workers that were lost a day ago are deleted and others are kept', async () => {
  const [gone, recent, alive] = [await harness.join(), await harness.join(), await harness.join()]
  const hours = KEEP_WORKERS_MS / 3_600_000
  const lose = (id: string, ago: number) =>
    harness.sql(
      `update workers set lost_at = now() - interval '${ago} hours', lease_until = now() - interval '${ago} hours' where id = '${id}'`,
    )
  await lose(gone, hours + 1)
  await lose(recent, hours - 1)
  await pruneOnce({ store: harness.store, log })
  const left = (await harness.store.workers.list()).data.map(({ id }) => id)
  expect(left.sort()).toEqual([recent, alive].sort())
})

test('a finding whose acceptance is over is opened by the loops of a server', async () => {
  const content = {
    vuln_info: 'CVE-1',
    vuln_title: '',
    vuln_desc: '',
    vuln_poc: '',
    severity: 'low',
  } as const
  const more = { confidence: 'Firm', asset_type: 'web', asset_value: 'http://h', raw_vuln_json: '' } as const
  const texts = { tags: [], detail_http_request: '', detail_http_response: '' }
  const { id } = await harness.store.vulnerabilities.create('w', { ...content, ...more, ...texts })
  const ends = new Date(Date.now() + 500).toISOString()
  await harness.store.triage.change([id], { verdict: 'accepted', until: ends }, 'user:ann')
  await using _loops = start()
  const found = await until(
    () => harness.store.vulnerabilities.find(id),
    (finding) => finding?.verdict === 'none',
  )
  expect(found).toMatchObject({ state: 'open', until: null })
})

test('a server without a queue runs its loops and stops them in order', async () => {
  const loops = start({ queue: undefined, dispatcher: undefined })
  loops.wake()
  await loops[Symbol.asyncDispose]()
  await harness.submit(1)
  expect(await harness.sql('select count(*)::int as waiting from outbox')).toEqual([{ waiting: 1 }])
})
