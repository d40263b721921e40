// long
import { createServer } from 'node:http'
import { expect, jest, test } from '@jest/globals'
import { listen, until } from '@scanfarm/testing'
import { openTestCluster, type WorkerProcess } from '../harness/workers.ts'
import { TEST_MS } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const LEASE_MS = 3_000
const RATE = 20
const WINDOW_MS = 10_000
const RUNS = 16
const REQUESTS = 15

/** The most in any window. */
const worstOf = (times: readonly number[]): number =>
  Math.max(...times.map((begin) => times.filter((time) => time >= begin && time < begin + WINDOW_MS).length))

const WORKERS = 4

test('All runs of four workers, in whose time four are killed, stay below a limit', async () => {
  const times: number[] = []
  const server = createServer((_, response) => {
    times.push(performance.now())
    response.end('ok')
  })
  const address = `http://127.0.0.1:${await listen(server)}`
  await using cluster = await openTestCluster()
  let started = 0
  const spawn = async (): Promise<WorkerProcess> =>
    await cluster.spawnWorker({
      SCANFARM_WORKER_LEASE_MS: String(LEASE_MS),
      SCANFARM_WORKER_NAME: `worker-${(started += 1)}`,
    })
  try {
    await cluster.store.limits.set({ per_address: { rate: RATE, runs: 4 } })
    const alive = await Promise.all(Array.from({ length: WORKERS }, spawn))
    const ask = `seq 1 ${REQUESTS} | sed 's#^#url = ${address}/#' | curl -sfZ --parallel-immediate -K -`
    await cluster.submit([{ name: 'ask', command: ask }], Array<string>(RUNS).fill('127.0.0.1'))
    let killedAt = performance.now()
    const ended = await until(
      async () => {
        const limits = { maxAttempts: 20, quarantineAfter: 20, leaseMs: LEASE_MS, limit: 100 }
        await cluster.store.recovery.reapOnce(limits)
        await cluster.store.limits.wake()
        await cluster.dispatch()
        if (performance.now() - killedAt > LEASE_MS && started < 2 * WORKERS) {
          killedAt = performance.now()
          alive.splice(Math.floor(Math.random() * alive.length), 1)[0]?.send('SIGKILL')
          alive.push(await spawn())
        }
        const { data } = await cluster.store.runs.list({}, { offset: 0, limit: RUNS })
        return data.every(({ completed_at: at }) => at !== null) ? data : undefined
      },
      { limitMs: TEST_MS, what: 'the end of all runs' },
    )
    expect(ended).toHaveLength(RUNS)
    expect([...new Set(ended.map(({ outcome }) => outcome))]).toEqual(['clean'])
    expect(started).toBe(2 * WORKERS)
    expect(times.length).toBeGreaterThanOrEqual(RUNS * REQUESTS)
    const most = (RATE * WINDOW_MS) / 1_000
    expect(worstOf(times)).toBeLessThanOrEqual(1.05 * most)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
