import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { expect, jest, test } from '@jest/globals'
import { hostSearchOf } from '@scanfarm/contracts'
import type { Step } from '@scanfarm/language'
import { silentLogger } from '@scanfarm/platform'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { createHostRunners } from '@scanfarm/runners'
import { join } from 'node:path'
import { Firewall } from '../../src/network/firewall.ts'
import { UserPool } from '../../src/users/user-pool.ts'
import { canFilter } from '../harness/can-filter.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash, freshName } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const harness = forAllTests(openHarness)

const never = (entry: string) =>
  harness.store.scopes.addNeverScan([{ entry, reason: 'a hospital' }], 'test', 1_000)
const outputs = async (runId: number): Promise<string[]> =>
  (await harness.steps(runId)).map(({ output }) => output.trim())

test('A run whose target was forbidden since it was requested starts no step, and says why', async () => {
  const target = freshName()
  const [runId = 0] = await harness.submit([bash('one', 'echo started')], { targets: [target] })
  await never(target)
  await using _executor = harness.executor()
  const reason = `it is on the never-scan list as ${target} (a hospital)`
  expect(await harness.ended(runId)).toMatchObject({
    status: 'failed',
    outcome: 'nothing_done',
    error_message: `refused: ${reason}`,
  })
  expect(await harness.steps(runId)).toEqual([])
  expect(await harness.refusals(runId)).toMatchObject([{ target, reason, place: 'start' }])
  const events = await harness.store.events.list({ topic: 'target.refused' }, { offset: 0, limit: 100 })
  expect(JSON.stringify(events)).toContain(target)
})

test('A run is refused when a line of its target file is forbidden', async () => {
  const name = freshName()
  await never(name)
  const submit = async (key: string, lines: readonly string[]): Promise<number> => {
    await harness.artifacts.put(key, Readable.from([Buffer.from(lines.join('\r\n'))]))
    const [runId = 0] = await harness.submit([bash('one', 'cat "{{Target}}"')], { targets: [key] })
    return runId
  }
  const clean = await submit('uploads/0123456789abcdef-clean.txt', ['a.example', 'b.example'])
  const listed = await submit('uploads/0123456789abcdef-listed.txt', ['a.example', ` ${name} `, 'b.example'])
  await using _executor = harness.executor()
  expect(await harness.ended(clean)).toMatchObject({ status: 'completed', outcome: 'clean' })
  expect(await harness.ended(listed)).toMatchObject({
    status: 'failed',
    error_message: `refused: line 2, ${name}: it is on the never-scan list as ${name} (a hospital)`,
  })
  expect(await harness.steps(listed)).toEqual([])
})

test('A name is refused when one of its addresses is forbidden', async () => {
  const denied = await harness.scopeNo({ allowed: ['*'], denied: ['127.0.0.0/8', '::1'] })
  await using _executor = harness.executor()
  const [refused = 0] = await harness.submit([bash('one', 'echo started')], {
    targets: ['localhost'],
    job: { scopeNo: denied },
  })
  expect((await harness.ended(refused)).error_message).toMatch(
    /^refused: the scope s\S+ denies \S+, which has its address (127\.0\.0\.1|::1)$/,
  )
  const allowed = await harness.scopeNo({ allowed: ['*'], denied: ['192.0.2.0/24'] })
  const [started = 0] = await harness.submit([bash('one', 'echo started')], {
    targets: ['localhost'],
    job: { scopeNo: allowed },
  })
  expect(await harness.ended(started)).toMatchObject({ status: 'completed', outcome: 'clean' })
})

const LOOP: Step = {
  name: 'loop',
  type: 'foreach',
  input: '{{Output}}/list',
  variable: 'x',
  step: bash('b', 'echo "saw {{x}}"'),
}

test('Items of a loop that are out of scope are left out, and the run is not clean', async () => {
  const job = { scopeNo: await harness.scopeNo({ allowed: ['*.in.example', '10.0.0.0/8'] }) }
  await using _executor = harness.executor()
  const items = ['a.in.example', 'https://out.example/x', 'word', '10.1.1.1', '10.0.0.0/7']
  const [runId = 0] = await harness.submit(
    [bash('list', `printf '%s\\n' ${items.join(' ')} > {{Output}}/list`), LOOP],
    { targets: ['t.in.example'], job },
  )
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed', outcome: 'partial' })
  const loop = (await harness.steps(runId)).find(({ step_name: name }) => name === 'loop')
  expect(loop?.output).toContain('5 items: 3 completed, 0 failed, 0 skipped, 2 refused')
  expect((await harness.refusals(runId)).map(({ target, place }) => [target, place])).toEqual([
    ['https://out.example/x', 'item'],
    ['10.0.0.0/7', 'item'],
  ])
})

test('No request is sent to a forbidden host, and no redirect to it is followed', async () => {
  const paths: string[] = []
  const places: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    if (request.url === '/end') return void response.end('reached')
    response.writeHead(302, { location: `http://127.0.0.2:${String(request.socket.localPort)}/end` }).end()
  })
  await once(server.listen(0, '0.0.0.0'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  try {
    const job = { scopeNo: await harness.scopeNo({ allowed: ['127.0.0.1', 'a.example'] }) }
    await using _executor = harness.executor({ onRefused: (place) => places.push(place) })
    const [runId = 0] = await harness.submit(
      [{ name: 'ask', type: 'http', url: `http://127.0.0.1:${port}/` }],
      { targets: ['a.example'], job },
    )
    const { error_message: error } = await harness.ended(runId)
    expect(error).toContain(`a redirect to 127.0.0.2:${port}: the scope`)
    const target = `http://127.0.0.2:${port}/end`
    expect(await harness.refusals(runId)).toMatchObject([{ place: 'redirect', target }])
    const [asked = 0] = await harness.submit(
      [
        { name: 'ask', type: 'http', url: target, on_error: [{ action: 'continue' }] },
        { name: 'call', type: 'function', function: `log_info(http_get("${target}").error)` },
      ],
      { targets: ['a.example'], job },
    )
    await harness.ended(asked)
    expect(await harness.refusals(asked)).toMatchObject([
      { place: 'request', target },
      { place: 'request', target },
    ])
    const [probed = 0] = await harness.submit([bash('one', 'echo {{TargetStatusCode}}')], {
      targets: [`http://127.0.0.1:${port}/`],
      job: { ...job, params: { heuristics_check: 'advanced' } },
    })
    await harness.ended(probed)
    expect(await outputs(probed)).toEqual(['302'])
    expect(await harness.refusals(probed)).toMatchObject([{ place: 'redirect', target }])
    expect(paths).not.toContain('/end')
    expect(places).toEqual(['redirect', 'request', 'request', 'redirect'])
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('The hosts of a run are found: its target, items, requests and the addresses of names', async () => {
  const job = { scopeNo: await harness.scopeNo({ allowed: ['*'], denied: ['192.0.2.0/24'] }) }
  await using _executor = harness.executor()
  const name = freshName()
  const [runId = 0] = await harness.submit(
    [
      bash('list', `printf '%s\\n' 198.51.100.0/25 ${name}.example report.txt 192.0.2.9 > {{Output}}/list`),
      LOOP,
      { name: 'ask', type: 'http', url: 'http://127.0.0.3:1/', on_error: [{ action: 'continue' }] },
    ],
    { targets: ['https://localhost:1/x'], job },
  )
  await harness.ended(runId)
  const found = async (host: string, minutes = 0) => {
    const search = hostSearchOf(host)
    if (search === undefined) throw new Error(host)
    const at = Date.now() + minutes * 60_000
    const { data } = await harness.store.traffic.find(
      { ...search, from: new Date(at - 3_600_000), to: new Date(at) },
      10,
    )
    return data
      .filter(({ target }) => target === 'https://localhost:1/x')
      .map(({ destinations }) => destinations)
  }
  expect(await found('localhost')).toEqual([[{ host: 'https://localhost:1/x', place: 'target' }]])
  expect(await found('127.0.0.1')).toEqual([[{ host: '127.0.0.1', place: 'resolved' }]])
  expect(await found('198.51.100.7')).toEqual([[{ host: '198.51.100.0/25', place: 'item' }]])
  expect(await found(`www.${name}.example`)).toEqual([[{ host: `${name}.example`, place: 'item' }]])
  expect(await found('127.0.0.3')).toEqual([[{ host: '127.0.0.3', place: 'request' }]])
  expect(await found('198.51.100.200')).toEqual([])
  expect(await found('192.0.2.9')).toEqual([])
  expect(await found('127.0.0.3', 120)).toEqual([])
  expect(await found('127.0.0.3', -120)).toEqual([])
})

test('A run waits for the window of its scope, without a slot', async () => {
  const opens = new Date(Date.now() + 3_600_000).toISOString()
  const job = { scopeNo: await harness.scopeNo({ allowed: ['*'], valid_from: opens }) }
  const [runId = 0] = await harness.submit([bash('one', 'echo started')], { job })
  await using executor = harness.executor({ slots: 1 })
  const waiting = await harness.until(
    runId,
    ({ status, waiting_reason: reason }) =>
      status === 'queued' && (reason ?? '').startsWith('its scope opens at'),
  )
  expect(waiting.started_at).not.toBeNull()
  const [other = 0] = await harness.submit([bash('one', 'echo started')])
  expect(await harness.ended(other)).toMatchObject({ status: 'completed' })
  expect(executor.status.slots).toBe(1)
  expect(await outputs(runId)).toEqual([])
  expect(await harness.cancelled(runId)).toMatchObject({ status: 'cancelled' })
})

test('Runs wait for a share of a limit without a slot, with their reason, and their commands know the rate', async () => {
  const target = '203.0.113.9'
  const rates = bash('rates', 'echo {{Rate}} "${SCANFARM_RATE-unset}" $SCANFARM_ARGS_SSLSCAN')
  const gate = bash(
    'gate',
    'mkdir -p {{Output}}/now; touch {{Output}}/now/{{RunUUID}}; until [ -e {{Output}}/go ]; do sleep 0.05; done; ls {{Output}}/now | wc -l; rm {{Output}}/now/{{RunUUID}}',
  )
  await using executor = harness.executor({ slots: 6 })
  const [free = 0] = await harness.submit([rates], { targets: [target] })
  await harness.ended(free)
  expect(await outputs(free)).toEqual(['0 unset'])
  await harness.store.limits.set({ per_network: { rate: 10, runs: 2 } })
  try {
    const runIds = await harness.submit([gate, rates], { targets: Array<string>(6).fill(target) })
    const started = await until(
      async () => {
        const runs = await Promise.all(runIds.map((id) => harness.run(id)))
        const waiting = runs.filter(
          ({ waiting_reason: reason }) => reason === 'waiting: limit of 203.0.113.0/24: 2 of 2 runs',
        )
        return waiting.length === 4 ? runs.filter(({ status }) => status === 'running') : []
      },
      (runs) => runs.length === 2,
    )
    expect(started).toHaveLength(2)
    const [other = 0] = await harness.submit([rates], { targets: ['198.51.100.1'] })
    expect(await harness.ended(other)).toMatchObject({ status: 'completed' })
    expect(executor.status.slots).toBe(6)
    await harness.makeFile(target, 'go')
    for (const id of runIds) {
      expect(await harness.ended(id)).toMatchObject({ status: 'completed', outcome: 'clean' })
      expect(await outputs(id)).toEqual([expect.stringMatching(/^[12]$/), '5 5 --sleep=200'])
    }
    expect(await outputs(other)).toEqual(['5 5 --sleep=200'])
  } finally {
    await harness.store.limits.set({})
  }
})

test('An entry that is added while a run works applies to its next items', async () => {
  const late = freshName()
  await using _executor = harness.executor()
  const [runId = 0] = await harness.submit(
    [bash('list', `echo ${late} > {{Output}}/list; until [ -e {{Output}}/go ]; do sleep 0.05; done`), LOOP],
    { targets: ['later.test'] },
  )
  await harness.until(runId, ({ status }) => status === 'running')
  await never(late)
  // The worker learns of the entry from its next heartbeat.
  const [next = 0] = await harness.submit([bash('one', 'echo started')], { targets: ['other.test'] })
  await harness.ended(next)
  await harness.makeFile('later.test', 'go')
  expect(await harness.ended(runId)).toMatchObject({ outcome: 'partial' })
  expect(await harness.refusals(runId)).toMatchObject([{ target: late, place: 'item' }])
})

test('A scope that the kernel must enforce starts no command where it is only checked', async () => {
  const job = { scopeNo: await harness.scopeNo({ allowed: ['*'], enforcement: 'kernel' }) }
  await using _executor = harness.executor()
  const [runId = 0] = await harness.submit([bash('one', 'echo started')], { job })
  expect(await harness.ended(runId)).toMatchObject({ status: 'failed' })
  const [step] = await harness.steps(runId)
  expect(step?.error_message).toMatch(/the scope s\S+ demands that the kernel .* only checks targets$/)
  expect(step?.output).not.toContain('started')
})

const withRules = canFilter ? test : test.skip
withRules(
  'Packets that the kernel does not send are refusals, and the step and its run are not clean',
  async () => {
    await using runners = createHostRunners()
    await using firewall = await Firewall.open(silentLogger)
    const places: string[] = []
    const users = new UserPool({
      range: { first: 38_910, last: 38_919 },
      folder: join(harness.folder, 'uids'),
      endUser: (user, areOurs) => runners.endUser(user, areOurs),
    })
    await using _executor = harness.executor({
      users,
      runners,
      enforcement: { firewall, gap: undefined },
      onRefused: (place) => void places.push(place),
    })
    const send = (address: string, more = 'true') =>
      bash('send', `bash -c ': < /dev/tcp/${address}/9'; ${more}; echo sent`)
    const job = {
      scopeNo: await harness.scopeNo({ allowed: ['*'], denied: ['127.66.0.7', '127.67.0.0/16:9'] }),
    }
    const loop: Step = {
      name: 'loop',
      type: 'foreach',
      input: '{{Output}}/list',
      variable: 'x',
      step: send('127.67.0.{{x}}'),
    }
    const listed = bash('list', 'echo 5 > {{Output}}/list')
    const steps = [send('127.66.0.7', `bash -c ': < /dev/tcp/127.67.0.1/9'`), listed, loop]
    const [runId = 0] = await harness.submit(steps, { targets: [freshName()], job })
    expect(await harness.ended(runId)).toMatchObject({
      status: 'completed',
      outcome: 'partial',
      failed_steps: 2,
    })
    const rows = await harness.steps(runId)
    expect(rows.map(({ status, error_message: error }) => [status, error])).toEqual([
      [
        'completed',
        expect.stringMatching(
          /^blocked: \d+ packets to 127\.6[67]\.0\.[17] and 1 other address were not sent$/,
        ),
      ],
      ['completed', ''],
      ['completed', ''],
      ['completed', expect.stringMatching(/^blocked: \d+ packets? to 127\.67\.0\.5 (was|were) not sent$/)],
    ])
    expect(rows[0]?.output).toContain('sent')
    expect((await harness.refusals(runId)).map(({ target, place }) => `${target} ${place}`).sort()).toEqual([
      '127.66.0.7 kernel',
      '127.67.0.1 kernel',
      '127.67.0.5 kernel',
    ])
    expect(places).toEqual(['kernel', 'kernel', 'kernel'])
    const [clean = 0] = await harness.submit([send('127.68.0.1')], { targets: [freshName()], job })
    expect(await harness.ended(clean)).toMatchObject({ status: 'completed', outcome: 'clean' })
    const narrow = {
      scopeNo: await harness.scopeNo({ allowed: ['127.68.0.0/24', '*.shop.test'], enforcement: 'kernel' }),
    }
    // Two workspaces, as what one run of a user is not allowed to send counts for all.
    const sent = async (target: string, address: string): Promise<number> =>
      (await harness.submit([send(address)], { targets: [target], job: narrow }))[0] ?? 0
    const within = await sent('127.68.0.1', '127.68.0.1')
    const beyond = await sent('127.68.0.2', '127.68.1.1')
    expect(await harness.ended(within)).toMatchObject({ status: 'completed', outcome: 'clean' })
    expect(await harness.ended(beyond)).toMatchObject({ status: 'completed', outcome: 'partial' })
    expect(await harness.refusals(beyond)).toMatchObject([{ target: '127.68.1.1', place: 'kernel' }])
  },
)
