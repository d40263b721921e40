import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { PROBE, SURVEY, testServer } from '../_server.ts'
import { claimLocalRuns, endRun, stepRecord } from '../_worker.ts'

/** The calls of the Osmedeus dashboard, page by page. Only those that answer 501 on purpose may fail. */

interface Call {
  readonly send: 'get' | 'post' | 'put' | 'delete'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: object
  /** Content of the form field `file`. */
  readonly file?: { readonly name: string; readonly content: string }
  /** Default: any success. */
  readonly status?: number
  /** Fields of the answer by dotted path. */
  readonly reads?: string
  /** Without the API root. */
  readonly bare?: boolean
}

const PASSWORD = 'correct horse battery'
const UPLOAD =
  'kind: module\nname: from-editor\nsteps:\n  - name: hello\n    type: bash\n    command: echo {{target}}\n'
const server = forAllTests(() =>
  testServer({
    master: true,
    settings: { 'cloud.enabled': true },
    workflows: { 'probe.yaml': PROBE, 'survey.yaml': SURVEY },
  }),
)
let token = ''
/** Created by the test: a completed run with a step and an artifact, a finding, a pending run, a schedule. */
const made = {
  run: '',
  pending: '',
  workspace: '',
  artifact: '',
  finding: '',
  org: '',
  schedule: '',
  upload: '',
}

beforeAll(async () => {
  await server.admin
    .post('/api/users')
    .send({ username: 'osmedeus', password: PASSWORD, role: 'admin' })
    .expect(201)
  await server.operator.post('/api/runs').send({ module: 'probe', target: 'shop.example' }).expect(202)
  const [run] = await claimLocalRuns(server.runStore)
  if (run === undefined) throw new Error('a run was to be claimed')
  const content = Buffer.from('one\ntwo\n')
  const key = `artifacts/${randomUUID()}`
  await server.artifacts.put(key, Readable.from([content]))
  await endRun(
    server.runStore,
    run,
    {},
    {
      steps: [stepRecord()],
      artifacts: [
        {
          id: randomUUID(),
          name: 'result.txt',
          path: 'out/result.txt',
          type: 'report',
          contentType: 'txt',
          sizeBytes: content.length,
          lineCount: 2,
          description: '',
          storeKey: key,
          sha256: createHash('sha256').update(content).digest('hex'),
        },
      ],
    },
  )
  made.run = run.runUuid
  const { body: read } = await server.viewer.get(`/api/runs/${run.runUuid}?include_artifacts=true`)
  made.workspace = read.data.workspace
  made.artifact = read.data.artifacts[0].artifact_path
  const { body: finding } = await server.operator
    .post('/api/vulnerabilities')
    .send({
      workspace: made.workspace,
      vuln_title: 'Open door',
      severity: 'high',
      asset_value: 'shop.example',
    })
    .expect(201)
  made.finding = String(finding.data.id)
})

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null)?.[key], value)

const paged = 'pagination.total pagination.offset pagination.limit'

/** Makes the calls in sequence, reports all failures and returns the bodies. */
const visit = async (...calls: readonly Call[]): Promise<unknown[]> => {
  const wrong: string[] = []
  const bodies: unknown[] = []
  for (const { send, path, query = {}, body, file, status, reads = '', bare = false } of calls) {
    const request = server.nobody[send]((bare ? '' : '/osm/api') + path).query(query)
    if (token !== '') void request.set('Authorization', `Bearer ${token}`)
    const answer =
      file === undefined
        ? await request.send(body)
        : await request.attach('file', Buffer.from(file.content), file.name)
    const name = `${send.toUpperCase()} ${path}`
    const isRight =
      status === undefined ? answer.status >= 200 && answer.status < 300 : answer.status === status
    if (!isRight) wrong.push(`${name}: ${answer.status} ${answer.text}`)
    else {
      const missing = reads.split(' ').filter((field) => field !== '' && at(answer.body, field) === undefined)
      if (missing.length > 0)
        wrong.push(`${name}: without ${missing.join(', ')}: ${answer.text.slice(0, 600)}`)
    }
    bodies.push(/json/.test(answer.type) ? answer.body : answer.text)
  }
  expect(wrong).toEqual([])
  return bodies
}

const get = (path: string, query: Call['query'] = {}, reads = ''): Call => ({
  send: 'get',
  path,
  query,
  reads,
})
const post = (path: string, body: object = {}, reads = ''): Call => ({ send: 'post', path, body, reads })
const refused = (path: string, body: object): Call => ({
  send: 'post',
  path,
  body,
  status: 501,
  reads: 'message',
})

const RUN_FIELDS = [
  'id run_uuid workflow_name workflow_kind target params status priority run_priority workspace started_at',
  'completed_at total_steps completed_steps trigger_type run_group_id error_message created_at updated_at',
]
  .join(' ')
  .split(' ')

const first = (fields: readonly string[]): string => fields.map((field) => `data.0.${field}`).join(' ')

describe('the Osmedeus dashboard', () => {
  test('the login page receives a token that looks like a JWT', async () => {
    await visit({
      send: 'get',
      path: '/server-info',
      bare: true,
      reads: 'message version repo author docs license',
    })
    const [body] = await visit(post('/login', { username: 'osmedeus', password: PASSWORD }, 'token'))
    token = String(at(body, 'token'))
    expect(token.split('.')).toHaveLength(3)
    // Without these words a refused token leads back to the login page.
    const { body: refusal } = await server.nobody.get('/osm/api/runs').expect(401)
    expect(refusal.message).not.toMatch(/api key/i)
  })

  test('every page reads version, health and organisations', async () => {
    await visit(
      { send: 'get', path: '/server-info', bare: true, reads: 'version license' },
      { send: 'get', path: '/health', bare: true, reads: 'status' },
      { send: 'get', path: '/health/ready', bare: true, reads: 'status' },
      get(
        '/orgs',
        {},
        first(
          'uuid name tags is_default created_at updated_at stats.org_uuid stats.org_name stats.total_workspaces stats.total_assets stats.total_vulns stats.total_runs'.split(
            ' ',
          ),
        ),
      ),
    )
  })

  test('the home page reads the counts', async () => {
    await visit(
      get(
        '/stats',
        {},
        'workflows.total workflows.flows workflows.modules scans.total scans.completed scans.running scans.failed workspaces.total assets.total vulnerabilities.total vulnerabilities.critical schedules.total schedules.enabled',
      ),
      get('/workspaces', { offset: 0, limit: 1000 }, 'data.0.name data.0.total_subdomains'),
      get('/runs', { limit: 5, offset: 0 }, first(RUN_FIELDS)),
    )
  })

  test('the scans page lists runs and their steps', async () => {
    await visit(
      get('/runs', { offset: 0, limit: 20 }, `${first(RUN_FIELDS)} ${paged}`),
      get(
        '/runs',
        {
          offset: 0,
          limit: 20,
          status: 'completed',
          workflow_name: 'probe',
          target: 'shop.example',
          workspace: made.workspace,
        },
        first(['run_uuid']),
      ),
      get(`/runs/${made.run}`, {}, 'data.run_uuid data.error_message'),
      get(
        '/step-results',
        { limit: 200, offset: 0, run_uuid: made.run },
        `${first('id run_id run_uuid step_name step_type status command output error duration_ms started_at completed_at created_at'.split(' '))} ${paged}`,
      ),
    )
  })

  test('the scans page repeats, starts, cancels and deletes a run', async () => {
    const [copy] = await visit(post(`/runs/${made.run}/duplicate`, {}, 'run_uuid status'))
    made.pending = String(at(copy, 'run_uuid'))
    await visit(
      post(`/runs/${made.pending}/start`, {}, 'run_uuid status'),
      { send: 'delete', path: `/runs/${made.pending}` },
      // Deleting cancels the run, also if it has ended.
      { send: 'delete', path: `/runs/${made.pending}` },
      { send: 'delete', path: `/runs/${made.run}` },
    )
  })

  test('the form for a new scan loads its options', async () => {
    const [, , , uploaded] = await visit(
      get(
        '/workflows',
        {},
        first(
          'name kind description tags file_path params required_params step_count module_count checksum'.split(
            ' ',
          ),
        ),
      ),
      get(
        '/workflows/probe',
        { json: true },
        'name kind description tags file_path params.0.name params.0.default params.0.required steps.0.name',
      ),
      get('/workspaces', {}, first(['name'])),
      {
        send: 'post',
        path: '/upload-file',
        file: { name: 'targets.txt', content: 'one.example\ntwo.example\n' },
        reads: 'message filename path size lines',
      },
    )
    made.upload = String(at(uploaded, 'path'))
  })

  test('the schedules page creates, reads, changes, starts and deletes a schedule', async () => {
    const [body] = await visit(
      post(
        '/schedules',
        {
          name: 'nightly',
          workflow_name: 'probe',
          workflow_kind: 'module',
          target: 'a.example',
          schedule: '0 2 * * *',
          enabled: true,
          params: { depth: '2' },
        },
        'data.id data.name data.workflow_name data.schedule data.is_enabled',
      ),
    )
    made.schedule = String(at(body, 'data.id'))
    const one = `/schedules/${made.schedule}`
    await visit(
      get(
        '/schedules',
        { offset: 0, limit: 50 },
        `${first('id name workflow_name trigger_name trigger_type schedule input_config is_enabled last_run next_run run_count created_at updated_at'.split(' '))} ${paged}`,
      ),
      get(one, {}, 'data.id data.input_config.target'),
      { send: 'put', path: one, body: { name: 'nightly two', schedule: '0 3 * * *', enabled: false } },
      post(`${one}/enable`),
      post(`${one}/disable`),
      post(`${one}/trigger`),
      { send: 'delete', path: one },
    )
  })

  test('the workflows pages list, read and save workflows', async () => {
    const [, , , , yaml] = await visit(
      get(
        '/workflows',
        { source: 'db', offset: 0, limit: 20 },
        `${first(['name', 'params', 'required_params', 'checksum'])} ${paged}`,
      ),
      get(
        '/workflows',
        { source: 'filesystem', kind: 'module', search: 'pro', tags: 'network', offset: 0, limit: 20 },
        first(['name']),
      ),
      get('/workflows/tags', {}, 'tags.0'),
      {
        send: 'post',
        path: '/workflows/refresh',
        query: { force: true },
        reads: 'message added updated removed errors',
      },
      get('/workflows/probe'),
      {
        send: 'post',
        path: '/workflow-upload',
        query: { kind: 'module' },
        file: { name: 'from-editor.yaml', content: UPLOAD },
        reads: 'message name kind path',
      },
      get('/workflows/from-editor', { json: true }, 'name'),
    )
    expect(yaml).toContain('name: probe')
    const { body } = await server.admin.get('/osm/api/workflows/none').expect(404)
    expect(body.message).toMatch(/not found/i)
  })

  test('the events page lists events and shows why tables cannot be cleared', async () => {
    await visit(
      get(
        '/event-logs',
        { offset: 0, limit: 20 },
        `${first('id topic event_id name source data_type data workspace run_id workflow_name processed created_at'.split(' '))} ${paged}`,
      ),
      get('/event-logs', {
        offset: 0,
        limit: 20,
        topic: 'run.completed',
        name: 'x',
        source: 'executor',
        workspace: made.workspace,
        run_id: made.run,
        workflow_name: 'probe',
        processed: 'true',
      }),
      refused('/database/tables/runs/clear', { force: true }),
      refused('/database/tables/step_results/clear', { force: true }),
      refused('/database/tables/event_logs/clear', { force: true }),
    )
  })

  test('the inventory pages list workspaces, assets and artifacts', async () => {
    const { workspace, artifact } = made
    const [, , , , , , file] = await visit(
      get(
        '/workspaces',
        { offset: 0, limit: 20, search: workspace.slice(0, 4), filesystem: true, data_source: 'local' },
        `${first('id name local_path total_assets total_subdomains total_urls total_vulns vuln_critical vuln_high vuln_medium vuln_low risk_score tags last_run run_workflow created_at updated_at'.split(' '))} ${paged}`,
      ),
      get('/workspace-names', {}, '0'),
      get('/asset-stats', { workspace }, 'data.technologies data.sources data.remarks data.asset_types'),
      get('/assets', { offset: 0, limit: 20, workspace }, `data ${paged}`),
      get('/assets', {
        offset: 0,
        limit: 20,
        workspace: `${workspace},other`,
        search: 'shop',
        status_code: '200,301',
        min_content_length: 1,
        max_content_length: 1000,
        location: 'shop',
        tech: 'nginx,PHP',
        asset_type: 'web',
        source: 'httpx',
        remarks: 'login',
        content_type: 'text/html',
        tls: 'tls13',
      }),
      get(
        '/artifacts',
        { offset: 0, limit: 20, workspace, artifact_type: 'report', verify_exist: true },
        `${first('id run_id workspace name artifact_path artifact_type content_type size_bytes line_count description created_at'.split(' '))} ${paged}`,
      ),
      get(`/artifacts/${encodeURIComponent(workspace)}`, { artifact_path: artifact }),
    )
    expect(file).toBe('one\ntwo\n')
  })

  test('the organisations page creates, changes, selects and deletes an organisation', async () => {
    const [body] = await visit(post('/orgs', { name: 'acme', description: 'Ours' }, 'data.uuid data.name'))
    made.org = String(at(body, 'data.uuid'))
    const one = `/orgs/${made.org}`
    const chosen = { offset: 0, limit: 20, org: made.org }
    await visit(
      get(one, {}, 'data.uuid data.name data.tags data.is_default'),
      get(
        `${one}/stats`,
        {},
        'data.org_uuid data.org_name data.total_workspaces data.total_runs data.total_vulns data.total_assets',
      ),
      { send: 'put', path: one, body: { name: 'acme two' }, reads: 'data.name' },
      { send: 'put', path: one, body: { workspaces: [made.workspace] }, reads: 'data.uuid assigned' },
      get('/runs', chosen, first(['run_uuid'])),
      get('/workspaces', chosen, first(['name'])),
      get('/vulnerabilities', chosen, first(['id'])),
      get('/assets', chosen, 'data'),
      { send: 'delete', path: one },
    )
  })

  test('the vulnerabilities page lists, reads and deletes vulnerabilities', async () => {
    await visit(
      get(
        '/vulnerabilities',
        { offset: 0, limit: 20 },
        `${first('id workspace vuln_info vuln_title vuln_desc vuln_poc severity confidence asset_type asset_value tags created_at updated_at'.split(' '))} ${paged}`,
      ),
      get('/vulnerabilities', {
        offset: 0,
        limit: 20,
        workspace: made.workspace,
        severity: 'critical,high',
        confidence: 'certain,manual review required',
        asset_value: 'shop.example',
      }),
      get('/vulnerabilities/summary', { workspace: made.workspace }, 'data.by_severity data.total'),
      get(`/vulnerabilities/${made.finding}`, {}, 'data.id data.vuln_title'),
      { send: 'delete', path: `/vulnerabilities/${made.finding}` },
    )
  })

  test('the pages of settings, programs, functions and models read their data', async () => {
    const [yaml] = await visit(
      get('/settings/yaml'),
      get('/settings/status', {}, 'hot_reload_enabled server_version'),
      get('/registry-info', { registry_mode: 'direct-fetch' }, 'registry_mode registry_url binaries'),
      get('/registry-info', { registry_mode: 'nix-build' }, 'registry_mode'),
      refused('/registry-install', { type: 'binary', names: ['nmap'], registry_mode: 'direct-fetch' }),
      refused('/registry-install', { type: 'workflow', source: 'https://git.example/workflows.git' }),
      get(
        '/functions/list',
        {},
        'functions.0.name functions.0.description functions.0.return_type functions.0.example functions.0.tags.0 total',
      ),
      post(
        '/functions/eval',
        { script: 'trim("{{target}} ")', target: 'a.example', params: { depth: '1' } },
        'result rendered_script',
      ),
      // Of a farm without a language model.
      refused('/llm/v1/chat/completions', {
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 10,
        temperature: 0.5,
      }),
    )
    expect(yaml).toContain('http:\n')
  })

  test('workers, tasks, jobs, snapshots and cloud data are available without a page', async () => {
    const [task] = await visit(
      post(
        '/tasks',
        { workflow_name: 'probe', workflow_kind: 'module', target: 'a.example', params: {} },
        'message task_id',
      ),
    )
    await visit(
      get(
        '/workers',
        {},
        `count ${first('id hostname status current_task joined_at last_heartbeat tasks_complete tasks_failed'.split(' '))}`,
      ),
      get('/tasks', {}, 'running completed'),
      get(`/tasks/${String(at(task, 'task_id'))}`, {}, 'id status worker_id created_at'),
      get(`/snapshot-download/${encodeURIComponent(made.workspace)}`),
      get('/cloud/providers'),
      get('/cloud/instances', {}, 'data'),
      get('/event-receiver/status', {}, 'enabled running'),
      get('/event-receiver/workflows', {}, 'data count'),
      post('/logout', {}, 'message'),
    )
  })
})
