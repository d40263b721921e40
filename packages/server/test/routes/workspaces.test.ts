import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun, stepRecord, type RunOfWorker } from '../_worker.ts'
import { unzipped } from '../_zip.ts'

const KEY = 'a-key-of-links-that-nobody-guesses'
const DEFAULT_ORG = '00000000-0000-0000-0000-000000000001'

const server = forAllTests(() => testServer({ master: true, settings: { 'http.files_key': KEY } }))
let shop: RunOfWorker
let other: RunOfWorker
beforeAll(async () => {
  shop = await scanned('shop', 'vuln/result.txt', 'what was found\n')
  other = await scanned('other', 'secret.txt', 'of another\n')
  await add({ workspace: 'shop', severity: 'high', vuln_title: 'A' })
  await add({ workspace: 'shop', severity: 'info', vuln_title: 'B' })
})

const add = (body: object) => server.operator.post('/api/vulnerabilities').send(body).expect(201)

const scanned = async (workspace: string, path: string, content: string): Promise<RunOfWorker> => {
  await server.operator
    .post('/api/runs')
    .send({ module: 'probe', target: `${workspace}.example`, workspace })
    .expect(202)
  const run = (await claimLocalRuns(server.runStore)).find((claimed) => claimed.workspace === workspace)
  if (run === undefined) throw new Error('the run was not claimed')
  const storeKey = `artifacts/${run.runUuid}/content`
  const { sha256 } = await server.artifacts.put(storeKey, Readable.from([Buffer.from(content)]))
  const artifact = {
    id: randomUUID(),
    name: path.split('/').at(-1) ?? '',
    path: `/data/workspaces/${workspace}/${path}`,
    type: 'report' as const,
    contentType: 'txt' as const,
    sizeBytes: content.length,
    lineCount: 1,
    description: '',
    storeKey,
    sha256,
  }
  const gone = { ...artifact, id: randomUUID(), path: `${artifact.path}.gone`, storeKey: 'artifacts/gone' }
  const climbing = { ...artifact, id: randomUUID(), path: '/../../etc/cron.d/x', storeKey }
  await endRun(server.runStore, run, {}, { steps: [stepRecord()], artifacts: [artifact, gone, climbing] })
  return run
}

const get = (path: string) => server.viewer.get(path)
const namesOf = (body: unknown): string[] =>
  (body as { data: { name: string }[] }).data.map(({ name }) => name)

describe('GET /workspaces', () => {
  test.each(['/api', '/osm/api'])(
    'GET /workspaces of %s lists each workspace by name with its counts',
    async (root) => {
      const { body } = await get(`${root}/workspaces?offset=0&limit=1000`).expect(200)
      expect(body.pagination).toEqual({ total: 2, offset: 0, limit: 1000 })
      expect(body.mode).toBe('database')
      expect(namesOf(body)).toEqual(['other', 'shop'])
      expect(body.data[1]).toMatchObject({
        id: expect.any(Number),
        org_uuid: DEFAULT_ORG,
        data_source: 'local',
        total_runs: 1,
        total_assets: 0,
        total_vulns: 2,
        vuln_high: 1,
        vuln_potential: 1,
        risk_score: 7.5,
        tags: [],
        last_run: expect.stringMatching(/Z$/),
        run_workflow: 'probe',
      })
      const names = await get(`${root}/workspace-names`).expect(200)
      expect(names.body).toEqual(['other', 'shop'])
    },
  )

  test('GET /workspaces accepts the query of the dashboard and reports unsupported values', async () => {
    const one = await get('/api/workspaces?search=SHO&data_source=all&filesystem=true&org=').expect(200)
    expect(namesOf(one.body)).toEqual(['shop'])
    expect((await get('/api/workspaces?data_source=imported').expect(200)).body.data).toEqual([])
    const source = await get('/api/workspaces?data_source=moon').expect(400)
    expect(source.body.details).toEqual([
      { path: '/data_source', message: 'must be one of local, cloud, imported, all' },
    ])
    for (const list of ['workspaces', 'runs', 'assets', 'vulnerabilities']) {
      const { body } = await get(`/api/${list}?org=nobody`).expect(400)
      expect(body.details).toEqual([
        { path: '/org', message: 'there is no organisation "nobody"; see GET /orgs' },
      ])
    }
  })
})

test('GET /stats counts all records in the old and the new format', async () => {
  const { body } = await get('/osm/api/stats').expect(200)
  const workflows = (await get('/api/workflows?limit=1000').expect(200)).body.data as { kind: string }[]
  const flows = workflows.filter(({ kind }) => kind === 'flow').length
  expect(body.workflows).toEqual({ total: workflows.length, flows, modules: workflows.length - flows })
  expect(body.runs).toEqual({ total: 2, completed: 2, running: 0, failed: 0, pending: 0, cancelled: 0 })
  expect(body.scans).toEqual(body.runs)
  expect(body.workspaces).toEqual({ total: 2 })
  expect(body.assets).toEqual({ total: 0 })
  expect(body.vulnerabilities).toEqual({ total: 2, critical: 0, high: 1, medium: 0, low: 0, info: 1 })
  expect(body.schedules).toEqual({ total: 0, enabled: 0 })
})

test('GET /step-results lists steps of all runs with the names that clients expect', async () => {
  const all = await get('/api/step-results').expect(200)
  expect((all.body as { data: { run_uuid: string }[] }).data.map((step) => step.run_uuid)).toEqual([
    other.runUuid,
    shop.runUuid,
  ])
  expect(all.body.data[0]).toMatchObject({ error: '', error_message: '', step_type: 'bash' })
  const found = async (query: string) =>
    (await get(`/api/step-results?${query}`).expect(200)).body.pagination.total as number
  expect(await found(`run_uuid=${shop.runUuid}&limit=200`)).toBe(1)
  expect(await found(`run_id=${shop.runId}`)).toBe(1)
  expect(await found('status=SUCCESS&workspace=shop')).toBe(1)
  expect(await found('status=failed,skipped')).toBe(0)
  expect(await found('step_type=bash&workspace=shop,other')).toBe(2)
  await get('/api/step-results?status=fine').expect(400)
})

describe('GET /artifacts', () => {
  test('artifacts of all runs are listed, with verify_exist only those whose content exists', async () => {
    const list = async (query: string) =>
      (await get(`/api/artifacts?${query}`).expect(200)).body as {
        data: object[]
        pagination: { total: number; limit: number }
      }
    expect((await list('')).pagination.total).toBe(6)
    expect((await list('workspace=shop&artifact_type=REPORT')).data[0]).toEqual({
      id: expect.any(String),
      run_id: shop.runId,
      workspace: 'shop',
      name: 'result.txt',
      artifact_path: expect.any(String),
      artifact_type: 'report',
      content_type: 'txt',
      size_bytes: 15,
      line_count: 1,
      description: '',
      created_at: expect.stringMatching(/Z$/),
    })
    const kept = await list('workspace=shop&verify_exist=true&limit=5000')
    expect(kept.pagination.limit).toBe(1000)
    expect(kept.data).toHaveLength(2)
    expect(kept.data[0]).toMatchObject({ path_exists: true, path_is_dir: false })
    expect((await list('search=secret.txt.gone')).data).toHaveLength(1)
    await get('/api/artifacts?artifact_type=nonsense').expect(400)
  })

  test('an artifact is downloaded by its path in the workspace only', async () => {
    const { text, headers } = await get('/osm/api/artifacts/shop?artifact_path=vuln/result.txt').expect(200)
    expect(text).toBe('what was found\n')
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment/),
    })
    await get('/api/artifacts/shop?artifact_path=./vuln//result.txt').expect(200)
    await get('/api/artifacts/shop?artifact_path=vuln/result.txt.gone').expect(404)
    for (const path of ['secret.txt', 'other/secret.txt', 'result.txt', 'vuln'])
      await get(`/api/artifacts/shop?artifact_path=${path}`).expect(404)
    for (const path of ['../other/secret.txt', '..', '/', 'a/../b', '..%5Cother'])
      await get(`/api/artifacts/shop?artifact_path=${path}`).expect(400)
    await get('/api/artifacts/shop').expect(400)
    await server.nobody.get('/api/artifacts/shop?artifact_path=vuln/result.txt').expect(401)
  })
})

describe('file links', () => {
  test('a file link needs the key of the settings instead of a token', async () => {
    const link = (path: string) => server.nobody.get(`/ws/${path}`)
    const { text, headers } = await link(`${KEY}/shop/vuln/result.txt`).expect(200)
    expect(text).toBe('what was found\n')
    expect(headers['content-disposition']).toMatch(/^attachment/)
    for (const path of [
      `${KEY}x/shop/vuln/result.txt`,
      'x/shop/vuln/result.txt',
      `${KEY}/shop/vuln`,
      `${KEY}/shop/`,
      `${KEY}/shop/%2e%2e/other/secret.txt`,
      `${KEY}/shop/..%2fother%2fsecret.txt`,
      `${KEY}/%2e%2e/secret.txt`,
    ])
      await link(path).expect(404)
  })

  test('file links are disabled without a key', async () => {
    await using off = await testServer({ database: server.database })
    await off.nobody.get('/ws//shop/vuln/result.txt').expect(404)
    await off.nobody.get(`/ws/${KEY}/shop/vuln/result.txt`).expect(404)
  })
})

describe('organisations', () => {
  test('an organisation is created, changed, filled, used as a filter and deleted', async () => {
    const made = await server.admin
      .post('/api/orgs')
      .send({ name: 'Acme', description: 'd', tags: ['t'], uuid: '' })
      .expect(201)
    const { uuid } = made.body.data as { uuid: string }
    expect(made.body.data).toMatchObject({ name: 'Acme', is_default: false })
    await server.admin.post('/api/orgs').send({ name: 'acme' }).expect(400)
    await server.admin.post('/api/orgs').send({ name: ' ' }).expect(400)
    await server.operator.post('/api/orgs').send({ name: 'x' }).expect(403)
    const assigned = await server.admin
      .put('/api/orgs/acme')
      .send({ name: '', workspaces: ['shop'] })
      .expect(200)
    expect(assigned.body.assigned).toEqual({ workspaces: 1 })
    const { body } = await get('/osm/api/orgs').expect(200)
    expect(body.total).toBe(2)
    expect(body.data[0]).toMatchObject({ uuid: DEFAULT_ORG, is_default: true })
    expect(body.data[1].stats).toEqual({
      org_uuid: uuid,
      org_name: 'Acme',
      total_workspaces: 1,
      total_assets: 0,
      total_vulns: 2,
      total_runs: 1,
      workspaces: ['shop'],
    })
    expect((await get(`/api/orgs/${uuid}/stats`).expect(200)).body.data).toEqual(body.data[1].stats)
    expect((await get(`/api/runs?org=${uuid}`).expect(200)).body.pagination.total).toBe(1)
    expect((await get('/api/vulnerabilities?org=ACME').expect(200)).body.pagination.total).toBe(2)
    expect((await get(`/api/workspaces?org=${DEFAULT_ORG}`).expect(200)).body.data).toHaveLength(1)
    await get('/api/orgs/nobody').expect(404)
    const renamed = await server.admin
      .put(`/api/orgs/${uuid}`)
      .send({ name: 'Acme Ltd', tags: [] })
      .expect(200)
    expect(renamed.body.data).toMatchObject({ name: 'Acme Ltd', description: 'd', tags: [] })
    await server.admin.delete(`/api/orgs/${uuid}?purge=true`).expect(400)
    await server.admin.delete(`/api/orgs/${uuid}`).expect(200)
    await server.admin.delete(`/api/orgs/${uuid}`).expect(404)
    expect((await get(`/api/workspaces?org=${DEFAULT_ORG}`).expect(200)).body.data).toHaveLength(2)
  })

  test('the default organisation cannot be renamed or deleted', async () => {
    await server.admin.delete(`/api/orgs/${DEFAULT_ORG}`).expect(403)
    await server.admin.put('/api/orgs/default').send({ name: 'mine' }).expect(403)
    await server.admin.put('/api/orgs/default').send({ name: 'default', description: 'rest' }).expect(200)
  })
})

describe('snapshots', () => {
  const zipOf = async (send: () => ReturnType<typeof get>) => {
    const { body, headers } = await send()
      .buffer(true)
      .parse((response, done) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => done(null, Buffer.concat(parts)))
      })
      .expect(200)
    return { files: unzipped(body as Buffer), headers }
  }

  test('a snapshot contains the records and newest files of one workspace under safe names', async () => {
    const { files, headers } = await zipOf(() => get('/osm/api/snapshot-download/shop'))
    expect(headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': expect.stringMatching(/^attachment; filename="shop_/),
    })
    expect([...files.keys()].sort()).toEqual([
      'assets.jsonl',
      'files/_/_/etc/cron.d/x',
      'files/vuln/result.txt',
      'runs.jsonl',
      'snapshot.json',
      'vulnerabilities.jsonl',
    ])
    expect(files.get('files/vuln/result.txt')?.toString()).toBe('what was found\n')
    expect(JSON.parse(String(files.get('runs.jsonl')))).toMatchObject({ run_uuid: shop.runUuid })
    expect(String(files.get('vulnerabilities.jsonl')).trim().split('\n')).toHaveLength(2)
    expect(JSON.parse(String(files.get('snapshot.json')))).toMatchObject({
      workspace: 'shop',
      runs: 1,
      assets: 0,
      vulnerabilities: 2,
      files: 2,
      files_no_longer_kept: 1,
      files_left_out: 0,
    })
    const posted = await zipOf(() => server.viewer.post('/api/snapshots/export').send({ workspace: 'other' }))
    expect([...posted.files.keys()]).toContain('files/secret.txt')
  })

  test('a snapshot of an unknown workspace is refused, and snapshots are neither stored nor imported', async () => {
    await get('/api/snapshot-download/nobody').expect(404)
    await get('/api/snapshot-download/..%2fshop').expect(404)
    expect((await get('/api/snapshots').expect(200)).body).toEqual({ data: [], count: 0, path: '' })
    const { body } = await server.operator.post('/api/snapshots/import').expect(501)
    expect(body.code).toBe('not_implemented')
    await server.operator.delete('/api/snapshots/x.zip').expect(404)
  })
})

test('collections that are never stored are listed as empty', async () => {
  for (const kind of ['assets', 'vulnerabilities'])
    expect((await get(`/osm/api/${kind}/diffs?workspace=shop&limit=5`).expect(200)).body).toEqual({
      data: [],
      pagination: { total: 0, offset: 0, limit: 5 },
    })
  expect((await get('/api/webhook-runs/list').expect(200)).body).toEqual({ data: [], total: 0 })
  for (const method of ['get', 'post'] as const) {
    const { body } = await server.operator[method](`/api/webhook-runs/${randomUUID()}/trigger`).expect(404)
    expect(body.message).toContain('POST /incoming-webhooks')
  }
})
