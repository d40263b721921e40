import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import { hostSearchOf } from '@scanfarm/contracts'
import { silentLogger } from '@scanfarm/platform'
import { createHostRunners } from '@scanfarm/runners'
import { listen } from '@scanfarm/testing'
import { Firewall } from '../../src/network/firewall.ts'
import { UserPool } from '../../src/users/user-pool.ts'
import { canDelay, canFilter } from '../harness/can-filter.ts'
import { openHarness, type Harness } from '../harness/executors.ts'
import { TEST_MS, bash } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const FORBIDDEN = '127.0.99.7'

let harness: Harness
const servers: Server[] = []
let port = 0
/** When requests arrived, at the target and at the forbidden address. */
let times: number[] = []
let forbidden: string[] = []
beforeAll(async () => {
  harness = await openHarness()
  const target = createServer(({ url = '' }, response) => {
    times.push(performance.now())
    if (url.startsWith('/away'))
      response.writeHead(302, { location: `http://${FORBIDDEN}:${port}/secret` }).end()
    else response.end('target')
  })
  port = await listen(target)
  const other = createServer(({ url = '' }, response) => {
    forbidden.push(url)
    response.end('forbidden')
  })
  await once(other.listen(port, FORBIDDEN), 'listening')
  servers.push(target, other)
})
beforeEach(() => {
  times = []
  forbidden = []
})
afterAll(async () => {
  for (const server of servers) server.close().closeAllConnections()
  await harness[Symbol.asyncDispose]()
})

const ENV = 'echo "${http_proxy-none} ${https_proxy-none} ${SCANFARM_PROXY-none} ${SCANFARM_ARGS_FFUF-none}"'

test('A tool that follows a redirect out of its scope reaches nothing, and its run is not clean', async () => {
  const job = { scopeNo: await harness.scopeNo({ allowed: ['127.0.0.1', '*.out.test'] }) }
  const places: string[] = []
  await using _executor = harness.executor({ onRefused: (place) => places.push(place) })
  const [runId = 0] = await harness.submit(
    [
      bash('env', ENV),
      bash('curl', `curl -sL http://127.0.0.1:${port}/away`),
      bash('wget', `wget -q -O - http://127.0.0.1:${port}/away http://127.0.0.1:${port}/ || true`),
      bash('tunnel', `curl -sk https://${FORBIDDEN}:${port}/ || echo failed`),
    ],
    { targets: ['www.out.test'], job },
  )
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed', outcome: 'partial' })
  expect(forbidden).toEqual([])
  expect(times).toHaveLength(3)
  const rows = await harness.steps(runId)
  const url = expect.stringMatching(/^(http:\/\/127\.0\.0\.1:\d+) \1 \1 -x \1$/)
  expect(rows.map(({ output }) => output.trim())).toEqual([
    url,
    expect.stringMatching(/^scanfarm: the scope s\S+ allows no such host, port or URL$/),
    expect.stringContaining('target'),
    'failed',
  ])
  const blocked = 'blocked: the proxy did not send 1 request'
  expect(rows.map(({ error_message: error }) => error)).toEqual(['', blocked, blocked, blocked])
  const target = `${FORBIDDEN}:${port}`
  const reason = expect.stringMatching(/^1 request of a command not sent: the scope s\S+ allows no such host/)
  expect(await harness.refusals(runId)).toMatchObject(
    [1, 2, 3].map(() => ({ target, reason, place: 'request' })),
  )
  expect(places).toEqual(['request', 'request', 'request'])
  const traffic = async (address: string) => {
    const search = hostSearchOf(address)
    if (search === undefined) throw new Error(address)
    const { data } = await harness.store.traffic.find(
      { ...search, from: new Date(Date.now() - 3_600_000), to: new Date() },
      10,
    )
    return data.map(({ destinations }) => destinations)
  }
  expect(await traffic('127.0.0.1')).toEqual([[{ host: '127.0.0.1', place: 'request' }]])
  expect(await traffic(FORBIDDEN)).toEqual([])
})

test('The proxy forbids what the kernel forbids: the addresses of names that are denied', async () => {
  const job = { scopeNo: await harness.scopeNo({ allowed: ['*'], denied: ['localhost'] }) }
  await using _executor = harness.executor()
  const [runId = 0] = await harness.submit(
    [bash('one', `curl -s http://127.0.0.1:${port}/`), bash('two', `curl -s http://${FORBIDDEN}:${port}/`)],
    { targets: ['a.test'], job },
  )
  expect(await harness.ended(runId)).toMatchObject({ outcome: 'partial' })
  expect(times).toEqual([])
  expect(forbidden).toEqual(['/'])
  expect((await harness.steps(runId)).map(({ output }) => output.trim())).toEqual([
    'scanfarm: its address 127.0.0.1 belongs to a host that may not be scanned',
    'forbidden',
  ])
})

test('A tunnel to the site of a target is allowed where only a part of it may be scanned', async () => {
  const site = `https://127.0.0.1:${port}`
  const job = { scopeNo: await harness.scopeNo({ allowed: [`${site}/app`] }) }
  await using _executor = harness.executor()
  const ask = bash('ask', `curl -sk ${site}/app; curl -s http://127.0.0.1:${port}/app`)
  const [runId = 0] = await harness.submit([ask], { targets: [`${site}/app`], job })
  await harness.ended(runId)
  // The tunnel was opened, in which the server does not speak TLS.
  expect(await harness.refusals(runId)).toMatchObject([{ target: `127.0.0.1:${port}` }])
  const [step] = await harness.steps(runId)
  expect(step?.error_message).toBe('blocked: the proxy did not send 1 request')
})

const RATE = 20
const RUNS = 6
test('All requests of runs that follow each other and work at once stay below their limit', async () => {
  await using _executor = harness.executor({ slots: 4 })
  await harness.store.limits.set({ per_address: { rate: RATE, runs: 2 } })
  try {
    const address = `http://127.0.0.1:${port}`
    const ask = `for n in 1 2 3 4 5 6 7 8; do printf 'url = ${address}/%s\\n' $n; done | curl -sZ --parallel-immediate -K -`
    const runIds = await harness.submit([bash('env', ENV), bash('ask', ask), bash('ask', ask)], {
      targets: Array<string>(RUNS).fill(address),
    })
    for (const id of runIds) expect(await harness.ended(id)).toMatchObject({ outcome: 'clean' })
    expect(times).toHaveLength(RUNS * 16)
    const worst = Math.max(
      ...times.map((begin) => times.filter((time) => time >= begin && time < begin + 2_000).length),
    )
    // Each of two runs may use its turn at the very beginning and end of a window.
    expect(worst).toBeLessThanOrEqual(2 * RATE + 2)
    const [first] = await harness.steps(runIds[0] ?? 0)
    expect((await harness.run(runIds[0] ?? 0)).facts).toMatchObject({
      connections: 'not delayed beside the proxy: this process only checks targets',
    })
    expect(first?.output).toMatch(/^(http:\/\/127\.0\.0\.1:\d+) \1 \1 -t 1 -p \S+ -x \1\n$/)
  } finally {
    await harness.store.limits.set({})
  }
})

/** An executor whose commands the kernel watches. */
const watched = async (scope: AsyncDisposableStack): Promise<void> => {
  const runners = scope.use(createHostRunners())
  const firewall = scope.use(await Firewall.open(silentLogger))
  const users = new UserPool({
    range: { first: 38_930, last: 38_939 },
    folder: join(harness.folder, 'proxy-uids'),
    endUser: (user, areOurs) => runners.endUser(user, areOurs),
  })
  scope.use(harness.executor({ users, runners, enforcement: { firewall, gap: undefined } }))
}

const withDelay = canDelay ? test : test.skip
withDelay('Connections past the proxy wait for the rate, and long waits block a step', async () => {
  await using scope = new AsyncDisposableStack()
  await watched(scope)
  await harness.store.limits.set({ per_address: { rate: 1, runs: 1 } })
  try {
    const ask = (path: string): string =>
      `curl -sZ --parallel-immediate --noproxy '*' 'http://127.0.0.1:${port}/${path}'`
    const steps = [bash('one', ask('')), bash('many', ask('[1-6]'))]
    const [runId = 0] = await harness.submit(steps, { targets: ['127.0.0.1'] })
    const started = performance.now()
    expect(await harness.ended(runId)).toMatchObject({ outcome: 'partial' })
    // Two may leave at once.
    expect(performance.now() - started).toBeGreaterThan(4_900)
    expect(times).toHaveLength(7)
    const [one, many] = await harness.steps(runId)
    expect(one?.error_message ?? '').toBe('')
    expect(many?.error_message).toMatch(/^blocked: \d connections? waited for 3 s or more for the limit/)
    expect((await harness.run(runId)).facts).not.toHaveProperty('connections')
  } finally {
    await harness.store.limits.set({})
  }
})

const withRules = canFilter ? test : test.skip
withRules(
  'Where the kernel keeps packets within a scope, tools still reach the proxy of their run',
  async () => {
    await using scope = new AsyncDisposableStack()
    await watched(scope)
    const job = { scopeNo: await harness.scopeNo({ allowed: [FORBIDDEN], enforcement: 'kernel' }) }
    const url = `http://${FORBIDDEN}:${port}/`
    const [runId = 0] = await harness.submit(
      [
        bash('ask', `curl -s '${url}a\\b?c'; curl -s ${url}x`),
        bash('past', `curl -s --noproxy '*' -m 3 http://127.0.0.1:${port}/`, {
          on_error: [{ action: 'continue' }],
        }),
      ],
      { targets: [FORBIDDEN], job },
    )
    await harness.ended(runId)
    expect(forbidden).toEqual(['/a\\b?c', '/x'])
    expect(times).toEqual([])
    expect(await harness.refusals(runId)).toMatchObject([{ target: '127.0.0.1', place: 'kernel' }])
  },
)

test('A run without scope and limit has no proxy', async () => {
  await using _executor = harness.executor()
  const [runId = 0] = await harness.submit([bash('env', ENV)], { targets: ['a.test'] })
  await harness.ended(runId)
  expect((await harness.steps(runId))[0]?.output.trim()).toBe('none none none none')
})
