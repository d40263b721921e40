// long
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { openDigitalOcean, type DigitalOceanAnswers } from '../_digitalocean.ts'
import { PROBE, refusal, testServer, type TestServer } from '../_server.ts'

const WORKFLOWS = {
  'probe.yaml': PROBE,
  'tooled.yaml': `kind: module
name: tooled
dependencies:
  commands: [nmap, curl]
steps:
  - name: only
    type: bash
    command: nmap {{target}}
`,
  'boxed.yaml': `kind: module
name: boxed
runner: docker
runner_config:
  image: alpine:3
steps:
  - name: only
    type: bash
    command: "true"
`,
  'far.yaml': `kind: flow
name: far
modules:
  - name: there
    runner: ssh
    runner_config:
      host: a.example
    steps:
      - name: only
        type: bash
        command: "true"
`,
  'mixed.yaml': `kind: module
name: mixed
steps:
  - name: only
    type: remote-bash
    step_runner: docker
    step_runner_config:
      image: alpine:3
    command: "true"
`,
}

let clouds: DigitalOceanAnswers
let server: TestServer
let off: TestServer

const start = (settings: Record<string, unknown> = {}): Promise<TestServer> =>
  testServer({
    workflows: WORKFLOWS,
    settings: {
      'cloud.enabled': true,
      'cloud.credentials': ['digitalocean=dop_v1_of_a_test'],
      'cloud.endpoints': [`digitalocean=${clouds.url}`],
      ...settings,
    },
  })

beforeAll(async () => {
  clouds = await openDigitalOcean()
  server = await start()
  off = await testServer({ workflows: WORKFLOWS })
})
afterEach(() => {
  clouds.status = 200
})
afterAll(async () => {
  await off[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await clouds[Symbol.asyncDispose]()
})

const ID = /^[0-9a-f]{16}$/
const detail = (path: string, message: string) => ({ path, message })
const DISABLED = refusal(
  'cloud_disabled',
  'cloud mode requires cloud support to be enabled in the settings: set cloud.enabled to true',
)
const REFUSED_TOKEN = /^Cloud provider validation failed: .*Unable to authenticate you/

interface Page {
  readonly data: { infra_id: string }[]
  readonly pagination: object
}

const infras = async (of = server): Promise<Record<string, unknown>[]> =>
  (await of.viewer.get('/api/cloud/instances').expect(200)).body.data as Record<string, unknown>[]
const runs = async (of = server): Promise<number> =>
  (await of.viewer.get('/api/runs').expect(200)).body.pagination.total as number
const make = async (body: object = {}, of = server): Promise<string> =>
  (await of.admin.post('/api/cloud/instances').send(body).expect(202)).body.infra_id as string
const cloudRun = (body: object, of = server) =>
  of.operator.post('/api/runs').send({ module: 'probe', target: 'a.example', run_mode: 'cloud', ...body })

describe('without cloud.enabled', () => {
  test.each([
    ['get', '/cloud/instances'],
    ['get', '/cloud/instances/0123456789abcdef'],
    ['get', '/cloud/instances/0123456789abcdef/status'],
    ['delete', '/cloud/instances/0123456789abcdef'],
    ['get', '/cloud/providers'],
    ['post', '/cloud/providers/aws/validate'],
  ] as const)('%s %s is refused', async (method, path) => {
    const { body } = await off.admin[method](`/api${path}`).expect(400)
    expect(body).toEqual(DISABLED)
  })

  test.each(['/cloud/instances', '/cloud/estimate'])('post %s is refused', async (path) => {
    const { body } = await off.admin.post(`/api${path}`).send({}).expect(400)
    expect(body).toEqual(DISABLED)
  })
})

describe('POST /cloud/instances', () => {
  test('202 with the request and the status URL', async () => {
    const { body } = await server.admin
      .post('/osm/api/cloud/instances')
      .send({ provider: 'digitalocean', instances: 2, region: 'ams3', hours: 3, tools: ['nmap'] })
      .expect(202)
    const id = body.infra_id as string
    expect(body).toEqual({
      message: '2 machines requested',
      infra_id: expect.stringMatching(ID),
      status: 'requested',
      provider: 'digitalocean',
      instances: 2,
      infra_status_url: `/osm/api/cloud/instances/${id}/status`,
      poll_url: `/osm/api/cloud/instances/${id}/status`,
    })
    const read = (await server.viewer.get(`/api/cloud/instances/${id}`).expect(200)).body.data
    expect(read).toMatchObject({
      infra_id: id,
      status: 'requested',
      region: 'ams3',
      instance_type: 's-2vcpu-4gb',
      use_spot: false,
      auto_destroy: false,
      hourly_cost: 0.07142,
      estimated_cost: 0.21426,
      ready_count: 0,
      total_count: 2,
      message: '',
    })
    expect(Date.parse(read.expires_at) - Date.parse(read.created_at)).toBe(3 * 3_600_000)
    expect(JSON.stringify(read)).not.toMatch(/key/i)
    await server.admin.delete(`/api/cloud/instances/${id}`).expect(202)
  })

  test('instance_count is another name of instances and must not differ from it', async () => {
    const id = await make({ instance_count: 3 })
    expect((await server.viewer.get(`/api/cloud/instances/${id}/status`)).body.total_count).toBe(3)
    await server.admin.delete(`/api/cloud/instances/${id}`).expect(202)
    const { body } = await server.admin
      .post('/api/cloud/instances')
      .send({ instances: 1, instance_count: 3 })
      .expect(400)
    const message = 'is another name of instances but has another value: send one of them'
    expect(body).toEqual(
      refusal('invalid_input', `instance_count: ${message}`, [detail('/instance_count', message)]),
    )
  })

  test.each([
    [{ provider: 'ibm' }, '/provider', /^must be one of aws, gcp, digitalocean/],
    [{ instances: 0 }, '/instances', /^must be >= 1$/],
    [{ instances: -1 }, '/instances', /^must be >= 1$/],
    [{ hours: 0 }, '/hours', /^must be >= 1$/],
    [{ tools: ['a; rm -rf /'] }, '/tools/0', /^must match pattern/],
    [{ tags: ['x'] }, '/tags', /^is not supported: machines only get the tags/],
    [{ size: 'x' }, '/size', /^is not a known field/],
    [{ use_spot: true }, '/use_spot', /^is not supported by digitalocean/],
  ])('400 for %j', async (body, path, message) => {
    const before = (await infras()).length
    const answer = await server.admin.post('/api/cloud/instances').send(body).expect(400)
    expect(answer.body).toMatchObject({ code: 'invalid_input' })
    expect(answer.body.details).toEqual([detail(path, expect.stringMatching(message) as unknown as string)])
    expect(await infras()).toHaveLength(before)
  })

  test('400 cloud_credentials with the message of the provider, and nothing is created', async () => {
    await using fresh = await start()
    clouds.status = 401
    const { body } = await fresh.admin.post('/api/cloud/instances').send({}).expect(400)
    expect(body).toMatchObject({ error: true, code: 'cloud_credentials', details: [] })
    expect(body.message).toMatch(REFUSED_TOKEN)
    expect(JSON.stringify(body)).not.toContain('dop_v1')
    expect(await infras(fresh)).toEqual([])
  })

  test('503 with Retry-After while the provider is unavailable, and nothing is created', async () => {
    await using fresh = await start()
    clouds.status = 503
    const answer = await fresh.admin.post('/api/cloud/instances').send({}).expect(503)
    expect(answer.body).toMatchObject({ error: true, code: 'unavailable' })
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(await infras(fresh)).toEqual([])
  })

  test('400 for a provider without credentials names the required settings', async () => {
    const { body } = await server.admin.post('/api/cloud/instances').send({ provider: 'hetzner' }).expect(400)
    expect(body).toEqual(
      refusal(
        'cloud_credentials',
        'Cloud provider validation failed: the settings do not configure hetzner: add hetzner=TOKEN to cloud.credentials',
      ),
    )
  })

  test('400 if several providers are configured without a default', async () => {
    await using many = await start({ 'cloud.credentials': ['digitalocean=t', 'linode=t'] })
    const { body } = await many.admin.post('/api/cloud/instances').send({}).expect(400)
    expect(body).toEqual(
      refusal(
        'invalid_input',
        'name a cloud provider in provider, or set cloud.provider in the settings; configured are digitalocean, linode',
      ),
    )
  })

  test('400 for an aws region that is not in the settings', async () => {
    await using aws = await start({
      'cloud.credentials': ['aws=k:s'],
      'cloud.regions': ['aws=eu-west-1'],
      'cloud.endpoints': [`aws=${clouds.url}`],
    })
    const { body } = await aws.admin
      .post('/api/cloud/instances')
      .send({ provider: 'aws', region: 'us-east-1' })
    const message = 'is not among the regions in the settings: add aws=us-east-1 to cloud.regions'
    expect(body).toEqual(refusal('invalid_input', `region: ${message}`, [detail('/region', message)]))
    expect(await infras(aws)).toEqual([])
  })

  describe('budgets', () => {
    test('400 cloud_limit with all figures, and nothing is created', async () => {
      await using tight = await start({
        'cloud.limits.max_instances': 3,
        'cloud.limits.max_total_instances': 4,
        'cloud.limits.max_hours': 10,
        'cloud.limits.max_total_instance_hours': 20,
        'cloud.limits.max_cost': 0.5,
      })
      const { body } = await tight.admin
        .post('/api/cloud/instances')
        .send({ instances: 5, hours: 12 })
        .expect(400)
      expect(body).toMatchObject({ code: 'cloud_limit', details: [] })
      for (const figures of [
        '5 machines were requested, the limit for one infrastructure is 3',
        '5 machines were requested and 0 exist, the limit for all is 4',
        '12 hours were requested, the limit for one infrastructure is 10',
        '60 machine hours were requested and 0 are in use, the limit for all is 20',
        'the estimated cost is 2.14 US dollars (5 machines, 12 hours, 0.03571 an hour), the limit for one infrastructure is 0.50',
      ])
        expect(body.message).toContain(figures)
      expect(await infras(tight)).toEqual([])
    })

    test('an unknown price is refused only if costs are limited, with the setting to change', async () => {
      await using limited = await start({ 'cloud.limits.max_total_cost': 100 })
      const { body } = await limited.admin
        .post('/api/cloud/instances')
        .send({ instance_type: 'c-77' })
        .expect(400)
      expect(body).toEqual(
        refusal(
          'cloud_limit',
          'costs are limited, and the price of c-77 at digitalocean in fra1 is not known: add digitalocean:c-77=DOLLARS (an hour) to cloud.prices in the settings',
        ),
      )
      const id = await make({ instance_type: 'c-77' })
      const { data } = (await server.viewer.get(`/api/cloud/instances/${id}`)).body
      expect(data).toMatchObject({ hourly_cost: null, estimated_cost: null })
      await server.admin.delete(`/api/cloud/instances/${id}`).expect(202)
      await using priced = await start({
        'cloud.limits.max_total_cost': 100,
        'cloud.prices': ['digitalocean:c-77=0.5'],
      })
      const known = await make({ instance_type: 'c-77', instances: 2 }, priced)
      expect((await priced.viewer.get(`/api/cloud/instances/${known}`)).body.data.hourly_cost).toBe(1)
    })
  })
})

describe('GET /cloud/instances', () => {
  test('200 lists them newest first, by status and provider, page by page', async () => {
    await using fresh = await start()
    const ids = [await make({}, fresh), await make({}, fresh), await make({}, fresh)]
    await fresh.admin.delete(`/api/cloud/instances/${ids[0]}`).expect(202)
    const list = async (query: string): Promise<Page> => {
      const { body } = await fresh.viewer.get(`/api/cloud/instances?${query}`).expect(200)
      return body as Page
    }
    expect((await list('')).data.map(({ infra_id: id }) => id)).toEqual(ids.toReversed())
    expect((await list('status=requested')).pagination).toEqual({ total: 2, offset: 0, limit: 20 })
    expect((await list('provider=aws')).data).toEqual([])
    const page = await list('limit=1&offset=1')
    expect(page.data).toHaveLength(1)
    expect(page.data[0]?.infra_id).toBe(ids[1])
    expect(page.pagination).toMatchObject({ total: 3, offset: 1, limit: 1 })
    await fresh.viewer.get('/api/cloud/instances?status=gone').expect(400)
    await fresh.viewer.get('/api/cloud/instances?limit=0').expect(400)
  })
})

describe('GET /cloud/instances/{id} and its status', () => {
  test('200 with the machines', async () => {
    const id = await make()
    const { body } = await server.viewer.get(`/api/cloud/instances/${id}/status`).expect(200)
    expect(body).toEqual({
      infra_id: id,
      status: 'requested',
      message: '',
      ready_count: 0,
      total_count: 1,
      expires_at: expect.any(String),
      details: [
        {
          resource_id: '',
          name: `scanfarm-${id}-1`,
          status: 'requested',
          message: '',
          address: '',
          running_runs: 0,
          created_at: expect.any(String),
          ready_at: null,
          destroyed_at: null,
        },
      ],
    })
    await server.admin.delete(`/api/cloud/instances/${id}`).expect(202)
  })

  test.each(['0123456789abcdef', 'nope', '..%2f'])('404 for %s', async (id) => {
    for (const path of [`/cloud/instances/${id}`, `/cloud/instances/${id}/status`]) {
      const { body } = await server.viewer.get(`/api${path}`).expect(404)
      const message = `there is no infrastructure ${JSON.stringify(decodeURIComponent(id))}`
      expect(body).toEqual(refusal('not_found', message))
    }
    await server.admin.delete(`/api/cloud/instances/${id}`).expect(404)
  })
})

describe('DELETE /cloud/instances/{id}', () => {
  test('202 drains it once, and reports it when repeated', async () => {
    const id = await make()
    const first = await server.admin.delete(`/api/cloud/instances/${id}`).expect(202)
    expect(first.body).toEqual({
      message: 'The machines are being destroyed',
      infra_id: id,
      status: 'draining',
    })
    const { data } = (await server.viewer.get(`/api/cloud/instances/${id}`)).body
    expect(data).toMatchObject({ status: 'draining', message: 'destroyed by admin' })
    const again = await server.admin.delete(`/api/cloud/instances/${id}`).expect(202)
    expect(again.body).toMatchObject({ status: 'draining' })
  })

  test('202 cancels waiting runs', async () => {
    const { body } = await cloudRun({ target: undefined, targets: ['a.example', 'b.example'] }).expect(202)
    await server.admin.delete(`/api/cloud/instances/${body.infra_id}`).expect(202)
    const job = (await server.viewer.get(`/api/jobs/${body.job_id}`)).body
    expect(job).toMatchObject({ status: 'cancelled', cancelled: 2 })
  })
})

describe('GET /cloud/providers', () => {
  test('200 with the configured providers and the state of their credentials', async () => {
    await using fresh = await start({
      'cloud.provider': 'hetzner',
      'cloud.credentials': ['digitalocean=t', 'hetzner=t'],
      'cloud.endpoints': [`hetzner=${clouds.url}`, `digitalocean=${clouds.url}`],
    })
    const { body } = await fresh.viewer.get('/api/cloud/providers').expect(200)
    expect(body.default_provider).toBe('hetzner')
    const providers = body.providers as { name: string }[]
    expect(providers.map(({ name }) => name)).toEqual([
      'aws',
      'azure',
      'digitalocean',
      'gcp',
      'hetzner',
      'linode',
    ])
    expect(providers[2]).toEqual({
      name: 'digitalocean',
      is_default: false,
      configured: true,
      status: 'valid',
    })
    expect(providers[5]).toEqual({
      name: 'linode',
      is_default: false,
      configured: false,
      status: 'not_configured',
      message: 'the settings do not configure linode: add linode=TOKEN to cloud.credentials',
    })
  })
})

describe('POST /cloud/providers/{name}/validate', () => {
  test('200 checks again, ignoring the cached result', async () => {
    const validate = async (name = 'digitalocean'): Promise<{ message: string }> => {
      const { body } = await server.operator.post(`/api/cloud/providers/${name}/validate`).expect(200)
      return body as { message: string }
    }
    expect(await validate()).toEqual({
      provider: 'digitalocean',
      valid: true,
      message: 'digitalocean accepts the credentials',
    })
    clouds.status = 401
    const refused = await validate()
    expect(refused).toMatchObject({ provider: 'digitalocean', valid: false })
    expect(refused.message).toMatch(REFUSED_TOKEN)
    expect(await validate('aws')).toMatchObject({ provider: 'aws', valid: false })
  })

  test('404 for an unknown provider', async () => {
    const { body } = await server.operator.post('/api/cloud/providers/ibm/validate').expect(404)
    expect(body).toEqual(refusal('not_found', 'there is no cloud provider "ibm"'))
  })
})

describe('POST /cloud/estimate', () => {
  test('200 with the costs, and nothing is created', async () => {
    const before = (await infras()).length
    const { body } = await server.viewer
      .post('/api/cloud/estimate')
      .send({ provider: 'digitalocean', instance_count: 3, hours: 2 })
      .expect(200)
    expect(body).toEqual({
      provider: 'digitalocean',
      region: 'fra1',
      instance_type: 's-2vcpu-4gb',
      use_spot: false,
      instance_count: 3,
      hours: 2,
      hourly_cost: 0.10713,
      daily_cost: 2.57112,
      estimated_cost: 0.21426,
      currency: 'USD',
      breakdown: [{ resource: 's-2vcpu-4gb', count: 3, unit_hourly_cost: 0.03571, hourly_cost: 0.10713 }],
      notes: ['For the machines only: traffic, disks and taxes are not included.'],
    })
    expect(await infras()).toHaveLength(before)
  })

  test('200 with null for an unknown price', async () => {
    const { body } = await server.viewer
      .post('/api/cloud/estimate')
      .send({ instance_type: 'c-77' })
      .expect(200)
    expect(body).toMatchObject({ hourly_cost: null, daily_cost: null, estimated_cost: null })
    expect(body.notes[1]).toMatch(/cloud\.prices/)
  })
})

describe('POST /runs with run_mode cloud', () => {
  test('202 for one target: infrastructure, job and run at once', async () => {
    const { body } = await cloudRun({ cloud_auto_destroy: true }).expect(202)
    expect(body).toEqual({
      message: 'Run queued',
      workflow: 'probe',
      kind: 'module',
      target: 'a.example',
      target_count: 1,
      priority: 'normal',
      run_mode: 'cloud',
      job_id: expect.stringMatching(ID),
      run_uuid: expect.any(String),
      status: 'queued',
      poll_url: `/api/jobs/${body.job_id}`,
      infra_id: expect.stringMatching(ID),
      infra_status_url: `/api/cloud/instances/${body.infra_id}/status`,
      cloud_provider: 'digitalocean',
      cloud_instances: 1,
    })
    const { data } = (await server.viewer.get(`/api/cloud/instances/${body.infra_id}`)).body
    expect(data).toMatchObject({ status: 'requested', auto_destroy: true, instances: 1 })
    const run = (await server.viewer.get(`/api/runs/${body.run_uuid}`)).body.data
    expect(run).toMatchObject({ status: 'queued', run_mode: 'cloud', runner_type: 'host' })
    await server.admin.delete(`/api/cloud/instances/${body.infra_id}`).expect(202)
  })

  test('202 for many targets returns one run for each machine, or the given concurrency', async () => {
    const many = { target: undefined, targets: ['a.example', 'b.example', 'c.example'] }
    const first = (await cloudRun({ ...many, cloud_instances: 2 }).expect(202)).body
    expect(first).toMatchObject({ concurrency: 2, cloud_instances: 2, target_count: 3 })
    const reused = (
      await cloudRun({ ...many, cloud_reuse_infra: first.infra_id, concurrency: 6 }).expect(202)
    ).body
    expect(reused).toMatchObject({
      infra_id: first.infra_id,
      cloud_provider: 'digitalocean',
      cloud_instances: 2,
      concurrency: 6,
    })
    const status = () => server.viewer.get(`/api/cloud/instances/${first.infra_id}`)
    expect((await status()).body.data.auto_destroy).toBe(false)
    await cloudRun({ cloud_reuse_infra: first.infra_id, cloud_auto_destroy: true }).expect(202)
    expect((await status()).body.data.auto_destroy).toBe(true)
    await server.admin.delete(`/api/cloud/instances/${first.infra_id}`).expect(202)
  })

  test('404 for an unknown infrastructure and 409 for one that accepts no more runs', async () => {
    const before = await runs()
    const missing = await cloudRun({ cloud_reuse_infra: '0123456789abcdef' }).expect(404)
    expect(missing.body).toEqual(refusal('not_found', 'there is no infrastructure 0123456789abcdef'))
    const id = await make()
    await server.admin.delete(`/api/cloud/instances/${id}`).expect(202)
    const ended = await cloudRun({ cloud_reuse_infra: id }).expect(409)
    expect(ended.body).toEqual(
      refusal('wrong_state', `the infrastructure ${id} is draining and takes no more runs`),
    )
    expect(await runs()).toBe(before)
  })

  const REUSE = 'cannot be combined with cloud_reuse_infra, whose machines already exist'
  const RUNNER = 'cannot be combined with run_mode cloud: the machine is the runner'
  test.each([
    [{ cloud_reuse_infra: 'x', cloud_provider: 'aws' }, [detail('/cloud_provider', REUSE)]],
    [
      { cloud_reuse_infra: 'x', cloud_instances: 2, cloud_region: 'r', cloud_use_spot: true },
      [detail('/cloud_instances', REUSE), detail('/cloud_region', REUSE), detail('/cloud_use_spot', REUSE)],
    ],
    [
      { runner_type: 'docker', docker_image: 'alpine' },
      [
        detail('/runner_type', 'must be host with run_mode cloud, not docker: the machine is the runner'),
        detail('/docker_image', RUNNER),
      ],
    ],
    [{ ssh_host: 'a.example' }, [detail('/ssh_host', RUNNER)]],
    [
      { module: 'boxed' },
      [detail('/module', 'boxed wants the runner docker, and cloud runs execute on the machine itself')],
    ],
    [
      { module: undefined, flow: 'far' },
      [detail('/flow', 'there wants the runner ssh, and cloud runs execute on the machine itself')],
    ],
    [
      { module: 'mixed' },
      [detail('/module', 'has steps that run in docker, which machines of a cloud do not offer')],
    ],
    [
      { cloud_use_spot: true },
      [detail('/cloud_use_spot', 'is not supported by digitalocean, which has no spot machines')],
    ],
  ])('400 for %j', async (fields, details) => {
    const before = [await runs(), (await infras()).length]
    const { body } = await cloudRun(fields).expect(400)
    expect(body).toMatchObject({ code: 'invalid_input', details })
    expect([await runs(), (await infras()).length]).toEqual(before)
  })

  test('400 cloud_credentials after all other checks, and nothing is stored', async () => {
    await using fresh = await start()
    clouds.status = 401
    const before = clouds.checks
    await cloudRun({ module: 'unheard' }, fresh).expect(404)
    await cloudRun({ target: 'a b' }, fresh).expect(400)
    expect(clouds.checks).toBe(before)
    const { body } = await cloudRun({}, fresh).expect(400)
    expect(body).toMatchObject({ error: true, code: 'cloud_credentials' })
    expect(body.message).toMatch(REFUSED_TOKEN)
    expect([await runs(fresh), await infras(fresh)]).toEqual([0, []])
  })

  test('400 cloud_limit creates neither machines nor runs', async () => {
    await using tight = await start({ 'cloud.limits.max_instances': 1 })
    const { body } = await cloudRun({ cloud_instances: 2 }, tight).expect(400)
    expect(body).toEqual(
      refusal('cloud_limit', '2 machines were requested, the limit for one infrastructure is 1'),
    )
    expect([await runs(tight), await infras(tight)]).toEqual([0, []])
  })

  test('machines get the programs that the workflow declares', async () => {
    await using fresh = await start()
    await cloudRun({ module: 'tooled' }, fresh).expect(202)
    const record = await fresh.store.cloud.acquire('test', 1_000)
    expect(record?.tools).toEqual(['curl', 'nmap'])
  })
})

describe('a copy of a cloud run', () => {
  test('gets its own machines when it is started, requested like those of the original', async () => {
    await using fresh = await start()
    const fields = { module: 'tooled', cloud_instances: 2, cloud_region: 'ams3', cloud_auto_destroy: true }
    const original = (await cloudRun(fields, fresh).expect(202)).body
    const { body } = await fresh.operator.post(`/api/runs/${original.run_uuid}/duplicate`).expect(201)
    expect(await infras(fresh)).toHaveLength(1)
    const started = await fresh.operator.post(`/api/runs/${body.new_run_uuid}/start`).expect(202)
    expect(started.body).toMatchObject({ status: 'running', run_uuid: body.new_run_uuid })
    const [copy, first] = await infras(fresh)
    expect(first?.infra_id).toBe(original.infra_id)
    expect(copy).toMatchObject({
      provider: 'digitalocean',
      instances: 2,
      region: 'ams3',
      auto_destroy: true,
      status: 'requested',
    })
    await fresh.operator.post(`/api/runs/${body.new_run_uuid}/start`).expect(400)
    expect(await infras(fresh)).toHaveLength(2)
  })

  test('stays pending when the provider refuses the credentials', async () => {
    await using one = await start()
    const original = (await cloudRun({}, one).expect(202)).body
    const { body } = await one.operator.post(`/api/runs/${original.run_uuid}/duplicate`).expect(201)
    await using other = await testServer({
      workflows: WORKFLOWS,
      database: one.database,
      settings: {
        'cloud.enabled': true,
        'cloud.credentials': ['digitalocean=bad'],
        'cloud.endpoints': [`digitalocean=${clouds.url}`],
      },
    })
    clouds.status = 401
    const refused = await other.operator.post(`/api/runs/${body.new_run_uuid}/start`).expect(400)
    expect(refused.body).toMatchObject({ code: 'cloud_credentials' })
    const run = (await one.viewer.get(`/api/runs/${body.new_run_uuid}`)).body.data
    expect(run.status).toBe('pending')
  })
})

test('GET /server-info lists cloud among the modes', async () => {
  const { body } = await server.viewer.get('/api/server-info').expect(200)
  expect(body.run_modes).toEqual(['local', 'cloud'])
})
