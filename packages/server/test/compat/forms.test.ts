import { describe, expect, test } from '@jest/globals'
import type { JobStatus, RunDetail, RunsCreated, Schedule, Warnings } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { BOXED, PROBE, SURVEY, testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'

const FEEDS = `kind: module
name: feeds
steps:
  - name: fetch
    type: bash
    command: echo feeds
`

const server = forAllTests(() =>
  testServer({
    workflows: { 'probe.yaml': PROBE, 'survey.yaml': SURVEY, 'boxed.yaml': BOXED, 'feeds.yaml': FEEDS },
  }),
)

const ROOTS = ['/api', '/osm/api'] as const
const good = { module: 'probe', target: 'example.com' }

const submit = async (body: object, root = '/osm/api', agent = server.admin): Promise<RunsCreated> =>
  (await agent.post(`${root}/runs`).send(body).expect(202)).body as RunsCreated
const problems = async (body: object): Promise<unknown> =>
  (await server.admin.post('/api/runs').send(body).expect(400)).body.details
const runOf = async ({ run_uuid: uuid }: Pick<RunsCreated, 'run_uuid'>): Promise<RunDetail> =>
  (await server.viewer.get(`/api/runs/${uuid}`).expect(200)).body.data as RunDetail
const scheduleOf = async ({ schedule_id: id }: RunsCreated): Promise<Schedule> =>
  (await server.viewer.get(`/api/schedules/${id}`).expect(200)).body.data as Schedule

describe('POST /runs with the form of the Osmedeus dashboard', () => {
  test.each(ROOTS)('POST /runs accepts all fields of the form below %s', async (root) => {
    const created = await submit(
      {
        ...good,
        threads_hold: 10,
        heuristics_check: 'advanced',
        repeat: false,
        priority: 'medium',
        timeout: '30',
        run_mode: 'local',
        params: { depth: '2' },
      },
      root,
    )
    expect(created).toMatchObject({
      priority: 'normal',
      timeout: 30,
      threads_hold: 10,
      heuristics_check: 'advanced',
    })
    expect(created.warnings).toBeUndefined()
    expect(created.schedule_id).toBeUndefined()
    expect((await runOf(created)).params).toEqual({
      depth: '2',
      threads_hold: '10',
      heuristics_check: 'advanced',
    })
  })

  test.each([
    ['30', 30],
    ['30m', 30],
    [45, 45],
    ['2h', 120],
    ['1h30m', 90],
    ['1d', 1440],
    ['90s', 2],
  ])('a timeout of %j is %d minutes', async (timeout, minutes) => {
    const created = await submit({ ...good, timeout })
    expect(created.timeout).toBe(minutes)
    expect((await runOf(created)).timeout).toBe(minutes)
  })

  test.each(['0s', '0m', '400d', '999999', 'soon', '-5'])('a timeout of %j is refused', async (timeout) => {
    expect(await problems({ ...good, timeout })).toEqual([
      { path: '/timeout', message: expect.stringContaining('1 to 525600') },
    ])
  })

  test('empty fields count as missing, also with targets', async () => {
    const empty = { flow: '', params: null, priority: '', timeout: '', runner_type: '', docker_image: null }
    const created = await submit({
      ...empty,
      module: 'probe',
      target: 'example.com',
      targets: [],
      target_file: '',
      empty_target: false,
      workspace: '',
      threads_hold: 0,
    })
    expect(created).toMatchObject({ target: 'example.com', priority: 'normal' })
    expect(await runOf(created)).toMatchObject({ params: {}, workspace: 'example.com', timeout: null })
    const many = await submit({ module: 'probe', target: '', targets: ['a.test', 'b.test'] })
    expect(many.targets).toEqual(['a.test', 'b.test'])
  })

  test('numbers and booleans in params become text', async () => {
    const params = { depth: 3, flags: true, ratio: 0.5, none: null }
    expect((await runOf(await submit({ ...good, params }))).params).toEqual({
      depth: '3',
      flags: 'true',
      ratio: '0.5',
    })
  })

  test('the runner local is an alias of host', async () => {
    expect(await submit({ ...good, runner_type: 'local' })).toMatchObject({ runner_type: 'host' })
  })

  test('fields without effect return warnings, and targets are still checked', async () => {
    const created = await submit({
      ...good,
      skip_validation: true,
      notify_on_complete: true,
      empty_target: true,
    })
    expect(created.target).toBe('example.com')
    expect(created.warnings?.map(({ field }) => field)).toEqual([
      'skip_validation',
      'notify_on_complete',
      'empty_target',
    ])
    expect(await problems({ ...good, target: 'a;id', skip_validation: true })).toEqual([
      { path: '/target', message: 'a target may contain ; only in the path, query or fragment of a URL' },
    ])
  })

  test.each([
    ['threads_hold', -1, 'must be >= 0'],
    ['heuristics_check', 'deep', 'must be one of none, basic, advanced'],
    ['repeat_wait_time', 'soon', '"soon" is not a duration; for example: 30m, 2h, 1d'],
    ['repeat_wait_time', '5s', expect.stringContaining('no time from 1m to 366d')],
    ['schedule', '61 * * * *', expect.stringContaining('is not a cron expression')],
    ['repeat', 'yes', 'must be boolean'],
  ])('the field %s may not be %j', async (field, value, message) => {
    expect(await problems({ ...good, [field]: value })).toEqual([{ path: `/${field}`, message }])
  })

  test('two workflow kinds, two target fields and unknown fields are refused', async () => {
    expect(await problems({ ...good, flow: 'survey' })).toHaveLength(2)
    expect(await problems({ ...good, targets: ['b.test'] })).toHaveLength(2)
    expect(await problems({ ...good, thread_hold: 5 })).toEqual([
      { path: '/thread_hold', message: 'is not a known field' },
    ])
  })
})

describe('POST /runs without a target', () => {
  test.each([{ target: '' }, { target: ' ' }, { empty_target: true }, { target: '', targets: [] }])(
    'the body %j starts a workflow that needs no target',
    async (targets) => {
      const created = await submit({ module: 'feeds', ...targets })
      expect(created).toMatchObject({ target: '', target_count: 1, message: 'Run queued' })
      expect(created.warnings).toBeUndefined()
      expect(await runOf(created)).toMatchObject({ target: '', workspace: 'feeds', status: 'queued' })
      const job = (await server.viewer.get(created.poll_url).expect(200)).body as JobStatus
      expect(job.runs).toMatchObject([
        { run_uuid: created.run_uuid, target: '', status: 'pending', is_queued: true, outcome: '' },
      ])
    },
  )

  test('a run without a target has a workspace, runs on a worker and can be copied and restarted', async () => {
    const created = await submit({ module: 'feeds', target: '', workspace: 'mine' })
    const run = (await claimLocalRuns(server.runStore)).find(({ runUuid }) => runUuid === created.run_uuid)
    expect(run).toMatchObject({ target: '', workspace: 'mine' })
    if (run !== undefined) await endRun(server.runStore, run)
    const copy = await server.operator.post(`/api/runs/${created.run_uuid}/duplicate`).expect(201)
    expect(copy.body.target).toBe('')
    await server.operator.post(`/api/runs/${copy.body.run_uuid}/start`).expect(202)
    const list = await server.viewer.get('/api/runs?workflow=feeds&workspace=mine').expect(200)
    expect(list.body.data).toHaveLength(2)
  })

  test('an empty target is refused for a workflow that needs one', async () => {
    expect(await problems({ module: 'probe', target: '' })).toEqual([
      { path: '/target', message: 'contains no target' },
    ])
    expect(await problems({ flow: 'survey', target: '' })).toHaveLength(1)
    expect(await problems({ module: 'feeds' })).toHaveLength(3)
  })

  test('empty_target creates a placeholder for a workflow that needs a target', async () => {
    const created = await submit({ module: 'probe', empty_target: true })
    expect(created.target).toMatch(/^empty-[0-9a-f]{8}$/)
    expect(created.warnings).toEqual([
      {
        field: 'empty_target',
        message: `probe uses its target, so ${created.target} is used as a placeholder`,
      },
    ])
    expect((await runOf(created)).target).toBe(created.target)
  })
})

describe('POST /runs with repeat or schedule', () => {
  test('a repetition starts the run and creates a schedule', async () => {
    const body = {
      ...good,
      params: { depth: 2 },
      repeat: true,
      repeat_wait_time: '2h',
      threads_hold: 4,
      timeout: '1h',
    }
    const before = Date.now()
    const created = await submit({ ...body, workspace: 'again', priority: 'high' })
    expect(created).toMatchObject({
      message: `Run queued, and scheduled as ${created.schedule_id}`,
      repeat: true,
      repeat_wait_time: '2h',
    })
    expect(created.warnings).toBeUndefined()
    const schedule = await scheduleOf(created)
    expect(schedule).toMatchObject({
      name: 'probe @every 2h',
      workflow_name: 'probe',
      target: 'example.com',
      workspace: 'again',
      schedule: '@every 2h',
      overlap: 'skip',
      params: { depth: '2', threads_hold: '4' },
      priority: 'high',
      run_mode: 'local',
      timeout: 60,
      is_enabled: true,
      run_count: 1,
      last_run: expect.any(String),
    })
    const next = Date.parse(schedule.next_run ?? '') - before
    expect(next).toBeGreaterThanOrEqual(2 * 3_600_000 - 1_000)
    const begun = new Date(before - 3_600_000)
    await server.store.triggers.startClock(schedule.id, 'any', begun)
    const due = new Date(before + 3_600_000).toISOString()
    expect((await scheduleOf(created)).next_run).toBe(due)
    const { body: receiver } = await server.viewer.get('/api/event-receiver/workflows').expect(200)
    expect(JSON.stringify(receiver)).toContain(`"next_run":"${due}"`)
    expect(await runOf(created)).toMatchObject({ trigger_type: 'manual', schedule_id: schedule.id })
    const early = await server.admin.post(`/api/schedules/${schedule.id}/trigger`).expect(409)
    expect(early.body.message).toContain('have not ended')
    for (const run of await claimLocalRuns(server.runStore)) await endRun(server.runStore, run)
    const again = await server.admin.post(`/api/schedules/${schedule.id}/trigger`).expect(202)
    const { runs } = (await server.viewer.get(again.body.poll_url)).body as JobStatus
    expect(await runOf(runs[0] ?? {})).toMatchObject({
      target: 'example.com',
      workspace: 'again',
      timeout: 60,
      params: { depth: '2', threads_hold: '4' },
    })
  })

  test('a repetition includes all targets, or none for a run without a target', async () => {
    const many = await submit({
      module: 'probe',
      targets: ['a.test', 'b.test'],
      repeat: true,
      concurrency: 2,
    })
    expect(await scheduleOf(many)).toMatchObject({
      target: '',
      targets: ['a.test', 'b.test'],
      concurrency: 2,
    })
    const { job } = await fire(many)
    expect(job.runs.map(({ target }) => target).sort()).toEqual(['a.test', 'b.test'])
    const none = await submit({ module: 'feeds', empty_target: true, repeat: true })
    expect((await scheduleOf(none)).schedule).toBe('@every 1m')
    expect((await fire(none)).job.runs.map(({ target }) => target)).toEqual([''])
  })

  const fire = async (created: RunsCreated): Promise<{ job: JobStatus }> => {
    for (const run of await claimLocalRuns(server.runStore)) await endRun(server.runStore, run)
    const { body } = await server.admin.post(`/api/schedules/${created.schedule_id}/trigger`).expect(202)
    return { job: (await server.viewer.get(body.poll_url)).body as JobStatus }
  }

  test('a cron expression creates a schedule, disabled on request', async () => {
    const created = await submit({ ...good, schedule: '0 3 * * *', schedule_enabled: false, repeat: true })
    expect(created.warnings).toEqual([
      { field: 'repeat', message: 'has no effect: schedule decides when the runs are repeated' },
    ])
    expect(await scheduleOf(created)).toMatchObject({
      schedule: '0 3 * * *',
      is_enabled: false,
      next_run: null,
    })
  })

  test('an operator, who may not create schedules, gets one run and a warning', async () => {
    const created = await submit({ ...good, repeat: true }, '/api', server.operator)
    expect(created.schedule_id).toBeUndefined()
    expect(created.warnings).toEqual([
      { field: 'repeat', message: 'the runs are started only once: a schedule requires the role admin' },
    ])
  })

  test('an Idempotency-Key creates one schedule, and a refused request creates none', async () => {
    const total = async () => (await server.viewer.get('/api/schedules')).body.pagination.total as number
    const before = await total()
    const body = { ...good, repeat: true }
    const send = () =>
      server.admin.post('/api/runs').set('Idempotency-Key', 'repeat-once').send(body).expect(202)
    const answers = await Promise.all([send(), send(), send()])
    expect(new Set(answers.map(({ body: { schedule_id: id } }) => id as string)).size).toBe(1)
    await server.admin
      .post('/api/runs')
      .send({ ...body, target: 'a b' })
      .expect(400)
    expect(await total()).toBe(before + 1)
  })
})

describe('schedules with the form of the Osmedeus dashboard', () => {
  const nightly = {
    name: 'nightly',
    workflow_name: 'probe',
    schedule: '0 3 * * *',
    target: 'a.test',
    enabled: true,
  }
  const create = async (body: object): Promise<{ data: Schedule; warnings?: Warnings }> =>
    (await server.admin.post('/osm/api/schedules').send(body).expect(201)).body as {
      data: Schedule
      warnings?: Warnings
    }

  test('a schedule is created with empty fields and the actual kind of its workflow', async () => {
    const { data, warnings } = await create({
      ...nightly,
      workflow_kind: 'flow',
      params: { depth: 2, none: null },
      runner_type: 'local',
      timeout: '1h',
      timezone: null,
      run_mode: '',
    })
    expect(data).toMatchObject({
      workflow_kind: 'module',
      params: { depth: '2' },
      runner_type: 'host',
      timeout: 60,
      timezone: 'UTC',
    })
    expect(warnings).toEqual([{ field: 'workflow_kind', message: 'probe is a module' }])
  })

  test('a schedule that was read can be sent back with changes', async () => {
    const { data } = await create({ ...nightly, name: 'first', params: { depth: '2' }, dedupe_key: null })
    const back = { ...data, name: 'renamed', schedule: '0 4 * * *', is_enabled: false }
    const { body } = await server.admin.put(`/osm/api/schedules/${data.id}`).send(back).expect(200)
    expect(body.warnings).toBeUndefined()
    expect(body.data).toEqual({
      ...data,
      name: 'renamed',
      trigger_name: 'renamed',
      schedule: '0 4 * * *',
      is_enabled: false,
      next_run: null,
      updated_at: expect.any(String),
    })
    const moved = await server.admin.put(`/api/schedules/${data.id}`).send({ ...data, id: 'sch_other' })
    expect(moved.body.warnings).toEqual([{ field: 'id', message: 'is read-only' }])
  })

  test('target and params are read from input_config if they are not sent otherwise', async () => {
    const { target: _, ...rest } = nightly
    const { data } = await create({ ...rest, input_config: { target: 'b.test', depth: 3 } })
    expect(data).toMatchObject({ target: 'b.test', params: { depth: '3' } })
  })

  test.each(['cron', 'event'])('a timeout outside the limits is refused (%s)', async (type) => {
    for (const timeout of ['0m', '400d']) {
      const { body } = await server.admin
        .post('/api/schedules')
        .send({ ...nightly, trigger_type: type, event_topic: 'a.b', timeout })
        .expect(400)
      expect(body.details).toEqual([{ path: '/timeout', message: expect.stringContaining('1 to 525600') }])
    }
  })

  test('a schedule has one target or several', async () => {
    const { target: _, ...rest } = nightly
    const { data } = await create({ ...rest, targets: ['a.test', 'b.test'] })
    expect(data).toMatchObject({ target: '', targets: ['a.test', 'b.test'] })
    const put = async (body: object) => await server.admin.put(`/api/schedules/${data.id}`).send(body)
    expect((await put(data)).body.data.targets).toEqual(['a.test', 'b.test'])
    const one = (await put({ target: 'c.test' })).body.data
    expect(one.target).toBe('c.test')
    expect(one.targets).toBeUndefined()
    expect((await put({ target: 'c.test', targets: ['a.test'] })).body.details).toMatchObject([
      { path: '/targets' },
    ])
    expect((await put({ targets: ['a;b'] })).status).toBe(400)
  })

  test('a schedule with trigger_type manual runs only on request', async () => {
    const { data, warnings } = await create({ ...nightly, name: 'one', trigger_type: 'manual', schedule: '' })
    expect(data).toMatchObject({ is_enabled: false, next_run: null })
    expect(warnings).toMatchObject([{ field: 'trigger_type' }])
    await server.operator.post(`/api/schedules/${data.id}/trigger`).expect(202)
  })

  test('a schedule without a target requires a workflow that needs none', async () => {
    const { data } = await create({ ...nightly, workflow_name: 'feeds', target: '' })
    const { body } = await server.operator.post(`/api/schedules/${data.id}/trigger`).expect(202)
    const { runs } = (await server.viewer.get(body.poll_url)).body as JobStatus
    expect(await runOf(runs[0] ?? {})).toMatchObject({ target: '', workspace: 'feeds' })
    const refused = await server.admin
      .post('/api/schedules')
      .send({ ...nightly, target: '' })
      .expect(400)
    expect(refused.body.details).toMatchObject([{ path: '/target', message: 'contains no target' }])
  })

  test('a schedule can run in docker', async () => {
    const { data } = await create({ ...nightly, runner_type: 'docker', docker_image: 'debian:12' })
    expect(data).toMatchObject({ runner_type: 'docker', docker_image: 'debian:12' })
    const { body } = await server.operator.post(`/api/schedules/${data.id}/trigger`).expect(202)
    const { runs } = (await server.viewer.get(body.poll_url)).body as JobStatus
    expect(await runOf(runs[0] ?? {})).toMatchObject({ runner_type: 'docker', docker_image: 'debian:12' })
    const host = await server.admin.put(`/api/schedules/${data.id}`).send({ runner_type: 'host' }).expect(200)
    expect(host.body.data.docker_image).toBeUndefined()
  })
})
