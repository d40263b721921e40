import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { RunsCreated } from '@scanfarm/contracts'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun, stepRecord } from '../_worker.ts'
import { assetOf } from '@scanfarm/store/testing'

const HOOKED = `kind: module
name: hooked
params: [{name: depth, default: 2}]
triggers:
  - {name: on-build, on: event, event: {topic: custom.build}}
hooks:
  pre_scan_steps: [{command: id}]
steps:
  - {name: hello, type: bash, command: 'echo {{target}}'}
`

const server = forAllTests(() => testServer({ workflows: { 'hooked.yaml': HOOKED } }))
let run: RunsCreated
let begin = ''
beforeAll(async () => {
  begin = new Date(Date.now() - 60_000).toISOString()
  const sent = await server.operator
    .post('/api/runs')
    .send({ module: 'hooked', target: 'https://user:secret@a.example', workspace: 'w' })
    .expect(202)
  run = sent.body as RunsCreated
  const [claimed] = await claimLocalRuns(server.runStore)
  if (claimed === undefined) throw new Error('the run was not claimed')
  await server.runStore.importRecords(claimed, {
    step: 'import',
    workspace: 'w',
    source: 'workflow',
    records: { kind: 'asset', items: [ASSET] },
    errors: 0,
  })
  await endRun(server.runStore, claimed, {}, { steps: [stepRecord()] })
  await server.operator.post('/api/vulnerabilities').send({ workspace: 'w', vuln_info: 'CVE-1' }).expect(201)
})

const ASSET = assetOf({ url: 'https://a.example', scheme: 'https', status_code: 200, title: 'A' })

const DEFAULT_ORG = '00000000-0000-0000-0000-000000000001'

interface Answer<T> {
  readonly data: T
  readonly runs: unknown
}
const read = async <T = unknown>(path: string): Promise<Answer<T>> =>
  (await server.viewer.get(`/osm/api${path}`).expect(200)).body as Answer<T>

/** Fields of a run that clients of Osmedeus read, with their types. */
const RUN = {
  id: expect.any(Number),
  run_uuid: expect.any(String),
  workflow_name: 'hooked',
  workflow_kind: 'module',
  params: {},
  status: 'completed',
  workspace: 'w',
  org_uuid: DEFAULT_ORG,
  started_at: expect.any(String),
  completed_at: expect.any(String),
  created_at: expect.any(String),
  updated_at: expect.any(String),
  trigger_type: 'manual',
  run_group_id: expect.any(String),
  total_steps: expect.any(Number),
  completed_steps: expect.any(Number),
  run_priority: 'normal',
  run_mode: 'local',
  hooks_enabled: true,
  is_queued: false,
  input_is_file: false,
}

describe('answers below /osm/api', () => {
  test('runs have the fields of Osmedeus in the list, in the detail and in their job', async () => {
    const list = await read('/runs')
    expect(list.data).toMatchObject([{ ...RUN, target: 'https://user:***@a.example' }])
    expect((await read(`/runs/${run.run_uuid}`)).data).toMatchObject(RUN)
    const job = await read(`/jobs/${run.job_id}`)
    expect(job.runs).toEqual(list.data)
    const ours = await server.viewer.get(`/api/jobs/${run.job_id}`).expect(200)
    expect(Object.keys(ours.body.runs[0] as object).sort()).toEqual([
      'outcome',
      'run_uuid',
      'status',
      'target',
    ])
    const plain = await server.viewer.get('/api/runs').expect(200)
    expect(plain.body.data[0]).not.toHaveProperty('hooks_enabled')
    expect(plain.body.data[0].org_uuid).toBe(DEFAULT_ORG)
  })

  test('a run that waits is pending and queued', async () => {
    const { body } = await server.operator
      .post('/osm/api/runs')
      .send({ module: 'hooked', targets: ['b.example', 'c.example'] })
      .expect(202)
    const { runs } = await read(`/jobs/${body.job_id as string}`)
    const waits = { status: 'pending', is_queued: true, hooks_enabled: true }
    expect(runs).toMatchObject([
      { target: 'b.example', ...waits },
      { target: 'c.example', ...waits },
    ])
    await server.operator.post(`/api/jobs/${body.job_id}/cancel`).expect(202)
  })

  test('runs and findings name the organisation of their workspace', async () => {
    const { body } = await server.admin.post('/api/orgs').send({ name: 'acme' }).expect(201)
    const org = body.data.uuid as string
    await server.admin
      .put(`/api/orgs/${org}`)
      .send({ workspaces: ['w'] })
      .expect(200)
    for (const path of [`/runs?workspace=w`, '/vulnerabilities?workspace=w', '/assets?workspace=w'])
      expect((await read(path)).data).toMatchObject([{ org_uuid: org }])
    await server.admin.delete(`/api/orgs/${org}`).expect(200)
    expect((await read('/assets?workspace=w')).data).toMatchObject([{ org_uuid: DEFAULT_ORG }])
  })

  test.each([
    ['assets', { asset_value: 'a.example', url: 'https://a.example', last_seen_at: expect.any(String) }],
    ['vulnerabilities', { vuln_info: 'CVE-1', severity: 'info', last_seen_at: expect.any(String) }],
  ])('a comparison of %s lists whole records', async (kind, record) => {
    const { data } = await read<{ to: string }>(`/${kind}/diff?workspace=w&from=${begin}`)
    expect(data).toMatchObject({
      workspace_name: 'w',
      from_time: begin,
      to_time: data.to,
      added: [{ workspace: 'w', org_uuid: DEFAULT_ORG, id: expect.any(Number), ...record }],
      removed: [],
      changed: [],
      summary: { total_added: 1, total_removed: 0, total_changed: 0 },
    })
    const ours = await server.viewer.get(`/api/${kind}/diff?workspace=w&from=${begin}`).expect(200)
    expect(ours.body.data).not.toHaveProperty('added')
  })

  test('a comparison lists changed records as changes of fields', async () => {
    const { body } = await server.viewer.get('/api/vulnerabilities?workspace=w').expect(200)
    const { id } = body.data[0]
    const from = new Date().toISOString()
    await server.operator
      .post('/api/vulnerabilities/bulk')
      .send({ ids: [id], change: { add_tags: ['seen'] } })
      .expect(200)
    const { data } = await read<{ changed: unknown }>(`/vulnerabilities/diff?workspace=w&from=${from}`)
    expect(data.changed).toMatchObject([
      { id, vuln_id: id, vuln_info: 'CVE-1', asset_value: '', changes: [] },
    ])
  })

  test('steps of a run name it', async () => {
    const { data } = await read(`/step-results?run_uuid=${run.run_uuid}`)
    expect(data).toEqual((await read(`/runs/${run.run_uuid}/steps`)).data)
    expect(data).toMatchObject([{ step_name: 'hello', run_uuid: run.run_uuid }])
  })

  test('events have the type of their source, and triggers are listed with their workflows', async () => {
    await server.operator.post('/api/events/emit').send({ topic: 'custom.a', data: {} }).expect(200)
    const { data } = await read('/event-logs')
    expect(data).toContainEqual(expect.objectContaining({ topic: 'custom.a', source_type: 'api' }))
    expect(data).toContainEqual(expect.objectContaining({ topic: 'run.completed', source_type: 'run' }))
    expect(await read('/event-receiver/workflows')).toMatchObject({
      count: 1,
      workflows: [{ name: 'hooked', kind: 'module', description: '', triggers: ['on-build'] }],
      triggers: [
        { workflow_name: 'hooked', trigger_name: 'on-build', topic: 'custom.build', enabled: false },
      ],
    })
    const ours = await server.viewer.get('/api/event-receiver/workflows').expect(200)
    expect(ours.body).not.toHaveProperty('workflows')
  })

  test('workflows have a number and times', async () => {
    const { data } = await read<{ id: number; indexed_at: string }[]>('/workflows?search=hooked')
    expect(data).toMatchObject([
      {
        id: expect.any(Number),
        name: 'hooked',
        hook_count: 1,
        indexed_at: expect.stringMatching(/^\d{4}-.*Z$/),
        created_at: data[0]?.indexed_at,
        updated_at: data[0]?.indexed_at,
      },
    ])
    expect(Number.isSafeInteger(data[0]?.id)).toBe(true)
    expect((await read('/workflows?search=hooked')).data).toEqual(data)
  })
})
