import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { asSuperuser, openTransactionsEnded } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'

const server = forAllTests(() => testServer({ master: true }))
const sql = (text: string) => server.database.sql(text)
beforeEach(async () => {
  await sql('truncate runs, outbox, slots, workers, farm_series, event_logs')
  await sql(`update farm set series_tx = '0', series_id = 0`)
})

const submit = (body: object) =>
  server.operator
    .post('/api/runs')
    .send({ module: 'probe', ...body })
    .expect(202)
const join = async (changes: object = {}): Promise<string> => {
  const workerId = randomUUID()
  const intro = { name: 'one', hostname: 'host', pid: 5, version: '1', slots: 4, leaseMs: 20_000 }
  await server.runStore.join({ ...intro, workerId, kind: 'worker', capabilities: [], ...changes })
  return workerId
}
const read = async (path: string) => (await server.viewer.get(`/api${path}`).expect(200)).body as object
/** What masters do every two seconds. */
const countOnce = async (): Promise<void> => {
  while (await server.store.figures.count());
}
const count = async (): Promise<void> => {
  await openTransactionsEnded(server.database.url)
  await countOnce()
}

describe('GET /queue', () => {
  test('GET /queue groups waiting runs by priority and needs, with the workers that can take them', async () => {
    expect(await read('/queue')).toMatchObject({ waiting: 0, oldest_at: null, groups: [], truncated: false })
    await submit({ targets: ['a.example', 'b.example'], run_mode: 'distributed' })
    await submit({ target: 'c.example', run_mode: 'distributed', priority: 'critical' })
    await submit({
      targets: ['d.example', 'e.example'],
      run_mode: 'distributed',
      concurrency: 1,
      priority: 'low',
    })
    await submit({ target: 'f.example', run_mode: 'local' })
    const body = await read('/queue')
    expect(body).toMatchObject({
      waiting: 6,
      by_priority: [
        { priority: 'critical', waiting: 1 },
        { priority: 'high', waiting: 0, oldest_at: null },
        { priority: 'normal', waiting: 3 },
        { priority: 'low', waiting: 2 },
      ],
      groups: [
        { priority: 'critical', waiting: 1, why: 'no live worker', needs: [], workers: [] },
        { priority: 'normal', run_mode: 'distributed', waiting: 2 },
        { priority: 'normal', run_mode: 'local', waiting: 1, why: 'no live server has local slots' },
        { priority: 'low', waiting: 2, held: 1, needs_text: 'nothing in particular' },
      ],
    })
    const id = await join()
    const [first] = ((await read('/queue')) as { groups: object[] }).groups
    expect(first).toMatchObject({
      why: 'being handed to workers',
      worker_count: 1,
      workers: [{ id, name: 'one', free_slots: 4 }],
    })
    await server.runStore.heartbeat(id, 4)
    const [busy] = ((await read('/queue')) as { groups: object[] }).groups
    expect(busy).toMatchObject({ why: 'all slots of the worker that can take them are in use' })
    await server.operator.post(`/api/workers/${id}/drain`).send({ stop: false }).expect(200)
    const [paused] = ((await read('/queue')) as { groups: object[] }).groups
    expect(paused).toMatchObject({ why: 'every worker that can take it is paused or draining', workers: [] })
  })

  test('GET /queue puts needs into words and names what no worker has', async () => {
    await submit({ target: 'a.example', run_mode: 'distributed' })
    await sql(`update jobs set requirement_class = 'docker label:region=eu tool:ffuf tool:nmap tool:sslscan'`)
    await join({ capabilities: ['docker', 'tool:ffuf', 'tool:nmap', 'tool:sslscan'] })
    expect(await read('/queue')).toMatchObject({
      groups: [
        {
          needs: ['docker', 'label:region=eu', 'tool:ffuf', 'tool:nmap', 'tool:sslscan'],
          needs_text: 'docker, the label region=eu, the programs ffuf, nmap and sslscan',
          why: 'no live worker offers: label:region=eu',
        },
      ],
    })
  })

  test('GET /queue returns at most 500 groups with 10 workers each, and totals of all groups', async () => {
    await submit({ target: 'a.example', run_mode: 'distributed' })
    const copies = (table: string, changes: string): string =>
      `insert into ${table} overriding system value
       select (jsonb_populate_record(o, ${changes})).* from ${table} o, generate_series(1, 500) n
       where o.id = (select max(id) from ${table})`
    await sql(
      copies(
        'jobs',
        `jsonb_build_object('id', o.id + 1000 + n, 'job_id', lpad(to_hex(n), 16, '0'), 'requirement_class', 'label:n' || n)`,
      ),
    )
    await sql(
      copies(
        'runs',
        `jsonb_build_object('id', o.id + n, 'run_uuid', gen_random_uuid(), 'job_no', o.job_no + 1000 + n)`,
      ),
    )
    for (let worker = 0; worker < 11; worker++) await join()
    const body = (await read('/queue')) as {
      waiting: number
      truncated: boolean
      groups: { worker_count: number; workers: object[] }[]
    }
    expect(body).toMatchObject({ waiting: 501, truncated: true })
    expect(body.groups).toHaveLength(500)
    expect(body.groups[0]).toMatchObject({ worker_count: 11 })
    expect(body.groups[0]?.workers).toHaveLength(10)
  })
})

describe('GET /stats/series', () => {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

  test('Ends of runs and new findings are counted once, also after a restart and by several masters', async () => {
    await submit({ targets: ['a.example', 'b.example', 'c.example'], run_mode: 'local', concurrency: 5 })
    const [one, two, three] = await claimLocalRuns(server.runStore)
    if (!one || !two || !three) throw new Error('three runs were to be claimed')
    await endRun(server.runStore, one)
    await endRun(server.runStore, two, { status: 'failed', errorMessage: '"status" : "completed"' })
    await Promise.all([count(), count()])
    await server.store.runs.requestCancel(three.runUuid)
    await endRun(server.runStore, three)
    await server.operator
      .post('/api/vulnerabilities')
      .send({
        workspace: 'a.example',
        vuln_info: 'x',
        vuln_title: 'X',
        severity: 'high',
        asset_value: 'a.example',
      })
      .expect(201)
    await Promise.all([count(), count()])
    await count()
    for (const range of ['1h', '6h', '24h', '7d', '30d']) {
      const body = (await read(`/stats/series?range=${range}`)) as {
        times: string[]
        runs: Record<string, number[]>
        findings: Record<string, number[]>
        queue: Record<string, (number | null)[]>
      }
      expect(body.runs['completed']).toHaveLength(body.times.length)
      expect(Object.values(body.runs).map(sum)).toEqual([1, 1, 1])
      expect(Object.values(body.findings).map(sum)).toEqual([0, 1, 0, 0, 0])
      expect(new Set(body.queue['high'])).toEqual(new Set([null]))
    }
  })

  test('An event of an open transaction is counted when it is committed, although later events were counted', async () => {
    await submit({ targets: ['a.example', 'b.example'], run_mode: 'local', concurrency: 5 })
    const [early, late] = await claimLocalRuns(server.runStore)
    if (!early || !late) throw new Error('two runs were to be claimed')
    const total = async (): Promise<number> => {
      const { rows } = await sql(
        `select coalesce(sum(count), 0)::int as n from farm_series where kind = 'run'`,
      )
      return Number(rows[0]?.n)
    }
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query(`select end_runs('[{"id": ${early.runId}, "status": "failed", "error": "x"}]')`)
      await endRun(server.runStore, late)
      await countOnce()
      expect(await total()).toBe(0)
      await client.query('commit')
    }, server.database.url)
    await count()
    expect(await total()).toBe(2)
  })

  test('The events of an upgraded farm are counted in transactions of 5,000', async () => {
    await sql(`insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name, processed, processed_at)
      select 'run.completed', 'evt_' || n || '_end', 'run.completed', 'executor', 'scan', '"status" : "completed"', 'w', n::text, 'probe', true, now()
      from generate_series(1, 11000) n`)
    const counted = async () =>
      Number(
        (await sql(`select coalesce(sum(count), 0)::int as n from farm_series where kind = 'run'`)).rows[0]
          ?.n,
      )
    const steps: number[] = []
    await openTransactionsEnded(server.database.url)
    while (await server.store.figures.count()) steps.push(await counted())
    expect(steps).toEqual([5_000, 10_000])
    expect(await counted()).toBe(11_000)
  })

  test('The depth of the queue is recorded once a minute', async () => {
    await submit({ targets: ['a.example', 'b.example'], run_mode: 'distributed', priority: 'high' })
    await server.store.figures.sample()
    await server.store.figures.sample()
    const { queue } = (await read('/stats/series?range=1h')) as { queue: Record<string, (number | null)[]> }
    expect(queue['high']?.filter((depth) => depth !== null)).toEqual([2])
    expect(queue['low']?.filter((depth) => depth !== null)).toEqual([0])
  })

  test('A line has at most 120 points, and counts are deleted after 35 days', async () => {
    const lengths = ['1h', '6h', '24h', '7d', '30d'].map(async (range) => {
      const { times } = (await read(`/stats/series?range=${range}`)) as { times: string[] }
      return times.length
    })
    expect(Math.max(...(await Promise.all(lengths)))).toBe(120)
    await sql(`insert into farm_series (minute, kind, label, count)
      select date_trunc('minute', now()) - days * interval '1 day', 'run', 'failed', 1 from unnest(array[34, 36]) days`)
    await server.store.figures.sample()
    const { rows } = await sql(`select count(*)::int as n from farm_series where kind = 'run'`)
    expect(rows).toEqual([{ n: 1 }])
  })

  test('An unknown range is refused with the ranges that exist', async () => {
    const { body } = await server.viewer.get('/api/stats/series?range=1y').expect(400)
    expect(JSON.stringify(body)).toContain('30d')
  })
})

describe('GET /stats/overview', () => {
  test('GET /stats/overview returns everything of the overview screen', async () => {
    await submit({ targets: ['a.example', 'b.example', 'c.example'], run_mode: 'local', concurrency: 5 })
    const [one, two] = await claimLocalRuns(server.runStore, 2)
    if (!one || !two) throw new Error('two runs were to be claimed')
    await endRun(server.runStore, one)
    await endRun(server.runStore, two, { status: 'failed' })
    await join()
    await join({ wanted: 'paused' })
    await count()
    await sql(`update farm_series set minute = minute - interval '1 min' where kind = 'run'`)
    expect(await read('/stats/overview')).toEqual({
      runs: { pending: 0, queued: 1, running: 0, completed: 1, failed: 1, cancelled: 0 },
      throughput: { runs_per_minute: 0.4 },
      queue: {
        waiting: 1,
        by_priority: expect.arrayContaining([
          { priority: 'normal', waiting: 1, oldest_at: expect.any(String) },
        ]),
      },
      workers: { live: 2, draining: 1, lost: 0, slots: 6, busy_slots: 0 },
      findings_24h: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
      failing_workflows_24h: [{ workflow_name: 'probe', ended: 2, failed: 1 }],
      cloud: {
        enabled: false,
        infras: 0,
        machines: 0,
        hourly_cost: 0,
        cost_24h: 0,
        booked_cost: 0,
        max_machines: 20,
        max_cost: null,
      },
    })
  })
})

describe('GET /runs/{id}/queue', () => {
  const start = async (body: object): Promise<string> => (await submit(body)).body.run_uuid as string
  const place = async (uuid: string) => ((await read(`/runs/${uuid}/queue`)) as { data: object | null }).data

  test('A queued run has its place among those with the same priority and needs', async () => {
    const distributed = { run_mode: 'distributed', priority: 'high' }
    await submit({ targets: ['a.example', 'b.example'], ...distributed })
    await submit({ target: 'other.example', ...distributed, priority: 'low' })
    await submit({ target: 'local.example', run_mode: 'local', priority: 'high' })
    const third = await start({ target: 'c.example', ...distributed })
    await submit({ target: 'd.example', ...distributed })
    await submit({ target: 'urgent.example', ...distributed, priority: 'critical' })
    expect(await place(third)).toEqual({ position: 3, exact: true, waiting: 4, more_urgent: 1 })
    await sql(`update jobs set requirement_class = 'docker' where id = (
      select job_no from runs where run_uuid = '${third}')`)
    expect(await place(third)).toEqual({ position: 1, exact: true, waiting: 1, more_urgent: 0 })
  })

  test('The place of a run in a deep queue is a lower bound', async () => {
    await submit({ targets: Array.from({ length: 1_001 }, (_, n) => `${n}.example`), run_mode: 'local' })
    const last = await start({ target: 'last.example', run_mode: 'local' })
    expect(await place(last)).toEqual({ position: 1_001, exact: false, waiting: 1_002, more_urgent: 0 })
  })

  test('A run that does not wait has no place, and an unknown run is not found', async () => {
    const run = await start({ target: 'a.example', run_mode: 'local' })
    await claimLocalRuns(server.runStore)
    expect(await place(run)).toBeNull()
    await server.viewer.get(`/api/runs/${randomUUID()}/queue`).expect(404)
  })
})
