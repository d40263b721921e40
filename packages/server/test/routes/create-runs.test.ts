import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PROBE, refusal, testServer, type TestServer } from '../_server.ts'

let server: TestServer
let master: TestServer
let lists = ''

beforeAll(async () => {
  server = await testServer()
  lists = join(server.folder, 'lists')
  await mkdir(lists)
  master = await testServer({
    master: true,
    settings: { 'target_file.folders': [lists] },
    limits: { targets: 50 },
  })
})
afterAll(async () => {
  await master[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const JOB = /^[0-9a-f]{16}$/

const detail = (path: string, message: unknown) => ({ path, message })
const post = (body: object, to = server) => to.operator.post('/api/runs').send(body)
const refused = async (body: object, status: number, expected: object, to = server): Promise<void> => {
  const response = await post(body, to).expect(status)
  expect(response.body).toEqual(expected)
}
const totalRuns = async (of = server): Promise<number> =>
  (await of.viewer.get('/api/runs').expect(200)).body.pagination.total as number

describe('POST /runs 202', () => {
  test('a request for one target creates one run', async () => {
    const response = await post({ module: 'probe', target: 'example.com' }).expect(202)
    expect(response.body).toEqual({
      message: 'Run queued',
      workflow: 'probe',
      kind: 'module',
      target: 'example.com',
      target_count: 1,
      priority: 'normal',
      run_mode: 'local',
      job_id: expect.stringMatching(JOB),
      run_uuid: expect.stringMatching(UUID),
      status: 'queued',
      poll_url: `/api/jobs/${response.body.job_id}`,
    })
    const run = await server.viewer.get(`/api/runs/${response.body.run_uuid}`).expect(200)
    expect(run.body.data).toMatchObject({
      workflow_name: 'probe',
      workflow_kind: 'module',
      target: 'example.com',
      params: {},
      status: 'queued',
      workspace: 'example.com',
      started_at: null,
      completed_at: null,
      trigger_type: 'manual',
      run_group_id: response.body.job_id,
      run_mode: 'local',
      runner_type: 'host',
    })
  })

  test('a body with an invalid shape is answered with all of its problems', async () => {
    const response = await post({
      module: 'probe',
      flow: 'survey',
      target: 'a;id',
      params: { 'a b': 'x' },
      workspace: '..',
      cloud_region: 'eu',
      bogus: 1,
    }).expect(400)
    expect(response.body.details).toEqual([
      { path: '/bogus', message: 'is not a known field' },
      { path: '/flow', message: 'exactly one of flow and module is required, but both were sent' },
      { path: '/module', message: 'exactly one of flow and module is required, but both were sent' },
      {
        path: '/params',
        message: 'the name of a param has 1 to 128 characters of A-Z a-z 0-9 . _ - and is not "a b"',
      },
      {
        path: '/workspace',
        message: 'a workspace name has 1 to 128 characters of A-Z a-z 0-9 . _ - and is not "." or ".."',
      },
      { path: '/cloud_region', message: 'requires run_mode cloud' },
      { path: '/target', message: 'a target may contain ; only in the path, query or fragment of a URL' },
    ])
  })

  test('a request for a flow uses all fields', async () => {
    const response = await post({
      flow: 'survey',
      target: ' https://example.com/a?b=1 ',
      params: { depth: '2', flags: '-a -b', agent: 'Mozilla/5.0 (X11; Linux)\n$(id)' },
      priority: 'critical',
      timeout: 30,
      runner_type: 'host',
      workspace: 'mine',
    }).expect(202)
    expect(response.body).toMatchObject({
      workflow: 'survey',
      kind: 'flow',
      target: 'https://example.com/a?b=1',
      priority: 'critical',
      runner_type: 'host',
      timeout: 30,
    })
    const run = await server.viewer.get(`/api/runs/${response.body.run_uuid}`).expect(200)
    expect(run.body.data).toMatchObject({
      params: { depth: '2', flags: '-a -b', agent: 'Mozilla/5.0 (X11; Linux)\n$(id)' },
      workspace: 'mine',
      timeout: 30,
      priority: 'critical',
      run_priority: 'critical',
    })
  })

  test('a request for several targets returns them and the effective concurrency', async () => {
    const response = await post({ module: 'probe', targets: ['a.example', 'b.example'] }).expect(202)
    expect(response.body).toEqual({
      message: '2 runs queued',
      workflow: 'probe',
      kind: 'module',
      target_count: 2,
      targets: ['a.example', 'b.example'],
      concurrency: 1,
      priority: 'normal',
      run_mode: 'local',
      job_id: expect.stringMatching(JOB),
      status: 'queued',
      poll_url: expect.any(String),
    })
    const job = await server.viewer.get(response.body.poll_url).expect(200)
    expect(job.body).toMatchObject({ total_runs: 2, pending: 2 })
  })

  test('blank targets, comments and duplicates are dropped, and duplicates are counted', async () => {
    const targets = [' a.example', 'b.example', '', '  ', '# note', 'a.example ', 'b.example']
    const response = await post({ module: 'probe', targets }).expect(202)
    expect(response.body).toMatchObject({
      targets: ['a.example', 'b.example'],
      target_count: 2,
      duplicates_dropped: 2,
    })
  })

  test('a list with one distinct target is answered like one target', async () => {
    const response = await post({
      module: 'probe',
      targets: ['a.example', 'a.example'],
      concurrency: 3,
    }).expect(202)
    expect(response.body).toMatchObject({ target: 'a.example', target_count: 1, duplicates_dropped: 1 })
    expect(response.body.run_uuid).toMatch(UUID)
    expect(response.body).not.toHaveProperty('targets')
    expect(response.body).not.toHaveProperty('concurrency')
  })

  test('poll_url has the API root of the request', async () => {
    const response = await server.operator
      .post('/osm/api/runs')
      .send({ module: 'probe', target: 'example.com' })
      .expect(202)
    expect(response.body.poll_url).toBe(`/osm/api/jobs/${response.body.job_id}`)
    await server.viewer.get(response.body.poll_url).expect(200)
  })

  test('the priority medium is an alias of normal', async () => {
    const response = await post({ module: 'probe', target: 'example.com', priority: 'medium' }).expect(202)
    expect(response.body.priority).toBe('normal')
  })

  test('each target gets its own workspace, the same for every request', async () => {
    const workspace = async (target: string): Promise<string> => {
      const { body } = await post({ module: 'probe', target }).expect(202)
      const run = await server.viewer.get(`/api/runs/${body.run_uuid}`).expect(200)
      return run.body.data.workspace as string
    }
    const [one, again, other] = [
      await workspace('http://a/b'),
      await workspace('http://a/b'),
      await workspace('http://a_b'),
    ]
    expect(one).toMatch(/^a_b-[0-9a-f]{12}$/)
    expect(again).toBe(one)
    expect(other).not.toBe(one)
  })

  test('docker uses the image of the request or of the workflow', async () => {
    const own = await post({ module: 'boxed', target: 'example.com' }).expect(202)
    expect(own.body).not.toHaveProperty('runner_type')
    const run = await server.viewer.get(`/api/runs/${own.body.run_uuid}`).expect(200)
    expect(run.body.data).toMatchObject({ runner_type: 'docker', docker_image: '' })
    const given = await post({
      module: 'probe',
      target: 'example.com',
      runner_type: 'docker',
      docker_image: 'debian:12',
    }).expect(202)
    expect(given.body.runner_type).toBe('docker')
    await post({ module: 'boxed', target: 'example.com', docker_image: 'debian:12' }).expect(202)
    await post({
      module: 'probe',
      target: 'example.com',
      runner_type: 'ssh',
      ssh_host: 'user@host:22',
    }).expect(202)
  })
})

describe('POST /runs with a docker network', () => {
  const body = { module: 'boxed', target: 'example.com' }

  test('the docker network is stored with the run', async () => {
    const created = await post({ ...body, docker_network: 'none' }).expect(202)
    const { data } = (await server.viewer.get(`/api/runs/${created.body.run_uuid}`).expect(200)).body
    expect(data).toMatchObject({ runner_type: 'docker', docker_network: 'none' })
  })

  test.each(['host', 'container:db'])(
    'the docker network %s requires the role admin',
    async (docker_network) => {
      const answer = await post({ ...body, docker_network }).expect(403)
      expect(answer.body).toMatchObject({
        code: 'forbidden',
        message: `docker_network ${docker_network} requires the role admin`,
      })
      await server.admin
        .post('/api/runs')
        .send({ ...body, docker_network })
        .expect(202)
    },
  )

  test.each([
    ['a b', 'must be the name of a docker network, for example none or bridge'],
    ['--privileged', 'must be the name of a docker network, for example none or bridge'],
  ])('the docker network %j is refused', (docker_network, message) =>
    refused(
      { ...body, docker_network },
      400,
      refusal('invalid_input', `docker_network: ${message}`, [detail('/docker_network', message)]),
    ),
  )
})

describe('POST /runs for a flow whose modules run in docker', () => {
  const boxedFlow = (more: string): string =>
    `kind: flow\nname: boxed-flow\n${more}modules: [{name: probe, path: probe.yaml}]\n`
  const withFlow = (text: string) =>
    testServer({ workflows: { 'probe.yaml': PROBE, 'boxed-flow.yaml': text } })
  const body = { flow: 'boxed-flow', target: 'example.com' }

  test('the run has the runner of its modules', async () => {
    await using flows = await withFlow(boxedFlow('runner: docker\nrunner_config: {image: "alpine:3"}\n'))
    const created = await post(body, flows).expect(202)
    const { data } = (await flows.viewer.get(`/api/runs/${created.body.run_uuid}`).expect(200)).body
    expect(data.runner_type).toBe('docker')
  })

  test('a module without an image is refused', async () => {
    await using flows = await withFlow(boxedFlow('runner: docker\n'))
    const message = 'is required with the runner docker: the module probe has none'
    await refused(
      body,
      400,
      refusal('invalid_input', `docker_image: ${message}`, [detail('/docker_image', message)]),
      flows,
    )
    await post({ ...body, docker_image: 'debian:12' }, flows).expect(202)
  })
})

describe('POST /runs 202 on a master', () => {
  test('a distributed run of one target has a run_uuid', async () => {
    const response = await post(
      { module: 'probe', target: 'example.com', run_mode: 'distributed' },
      master,
    ).expect(202)
    expect(response.body).toMatchObject({ run_mode: 'distributed', run_uuid: expect.stringMatching(UUID) })
  })

  test('a distributed job without a concurrency is unlimited and returns none', async () => {
    const body = { module: 'probe', targets: ['a.example', 'b.example'], run_mode: 'distributed' }
    const unbounded = await post(body, master).expect(202)
    expect(unbounded.body).not.toHaveProperty('concurrency')
    const bounded = await post({ ...body, concurrency: 2 }, master).expect(202)
    expect(bounded.body.concurrency).toBe(2)
  })

  test('a target file in a folder of the settings is read and not returned', async () => {
    await writeFile(join(lists, 'good.txt'), '\uFEFFa.example\r\n\r\n# note\r\nb.example\r\na.example\r\n')
    const response = await post({ module: 'probe', target_file: join(lists, 'good.txt') }, master).expect(202)
    expect(response.body).toMatchObject({ target_count: 2, duplicates_dropped: 1, concurrency: 1 })
    expect(response.body).not.toHaveProperty('targets')
  })

  test('skip_bad leaves invalid targets out and lists them in the answer', async () => {
    const many = { module: 'probe', targets: ['a.example', 'b;c', '300.1.1.1', 'd.example'] }
    expect((await post(many).expect(400)).body.details).toHaveLength(2)
    const { body } = await post({ ...many, skip_bad: true }).expect(202)
    expect(body).toMatchObject({ targets: ['a.example', 'd.example'], skipped_count: 2 })
    expect(body.skipped).toEqual([
      detail('/targets/1', expect.stringContaining(';')),
      detail('/targets/2', expect.any(String)),
    ])
    await writeFile(join(lists, 'mixed.txt'), 'a.example\n\nb c\n')
    const file = { module: 'probe', target_file: join(lists, 'mixed.txt'), skip_bad: true }
    const read = await post(file, master).expect(202)
    expect(read.body).toMatchObject({ target: 'a.example', skipped_count: 1 })
    expect(read.body.skipped).toEqual([detail('/target_file', expect.stringMatching(/^line 3: /))])
    const good = await post({ ...many, targets: ['a.example'], skip_bad: true }).expect(202)
    expect(good.body).not.toHaveProperty('skipped')
    await post({ ...many, targets: ['b;c'], skip_bad: true }).expect(400)
    await post({ module: 'probe', target: 'b;c', skip_bad: true }).expect(400)
  })

  test('an uploaded target file is read by its path', async () => {
    const upload = await master.operator
      .post('/api/upload-file')
      .attach('file', Buffer.from('only.example\n'), 'list.txt')
      .expect(200)
    const response = await post({ module: 'probe', target_file: upload.body.path }, master).expect(202)
    expect(response.body).toMatchObject({ target: 'only.example', target_count: 1 })
  })
})

describe('POST /runs 400: one-of rules', () => {
  const none = 'exactly one of flow and module is required, but neither was sent'

  test('a request without flow and module is refused', () =>
    refused(
      { target: 'a' },
      400,
      refusal('invalid_input', `flow: ${none} (and 1 more)`, [
        detail('/flow', none),
        detail('/module', none),
      ]),
    ))

  test('a request without a target is refused', () => {
    const message = 'exactly one of target, targets and target_file is required'
    return refused(
      { module: 'probe' },
      400,
      refusal('invalid_input', `target: ${message} (and 2 more)`, [
        detail('/target', message),
        detail('/targets', message),
        detail('/target_file', message),
      ]),
    )
  })

  test.each([
    [{ target: 'a', targets: ['b'] }, ['target', 'targets']],
    [{ target: 'a', target_file: 'b' }, ['target', 'target_file']],
    [{ targets: ['a'], target_file: 'b' }, ['targets', 'target_file']],
    [{ target: 'a', targets: ['b'], target_file: 'c' }, ['target', 'targets', 'target_file']],
  ])('more than one target field is refused: %j', (targets, names) => {
    const message = `exactly one of target, targets and target_file is required, not ${names.join(' and ')}`
    return refused(
      { module: 'probe', ...targets },
      400,
      refusal(
        'invalid_input',
        `target${names[0] === 'target' ? '' : 's'}: ${message} (and ${names.length - 1} more)`,
        names.map((name) => detail(`/${name}`, message)),
      ),
    )
  })
})

describe('POST /runs 400: fields', () => {
  const good = { module: 'probe', target: 'example.com' }

  test.each([[], 5, { a: { b: 'c' } }, { a: ['c'] }])(
    'params of %j are reported together with other problems',
    async (params) => {
      const { body } = await server.operator
        .post('/api/runs')
        .send({ ...good, flow: 'survey', workspace: '..', params })
        .expect(400)
      const paths = (body as { details: { path: string }[] }).details.map(({ path }) => path)
      expect(paths).toEqual(
        expect.arrayContaining(['/flow', '/workspace', expect.stringMatching(/^\/params/)]),
      )
    },
  )

  test.each([
    ['module', 5, 'must be string'],
    ['target', ['a'], 'must be string'],
    ['params', ['a'], 'must be object'],
    ['priority', 'urgent', 'must be one of low, normal, medium, high, critical'],
    ['priority', 1, 'must be one of low, normal, medium, high, critical'],
    ['timeout', 0, 'must be a whole number of minutes from 1 to 525600, or a duration such as 2h'],
    ['timeout', 1.5, 'must be a whole number of minutes from 1 to 525600, or a duration such as 2h'],
    ['timeout', 'soon', 'must be a whole number of minutes from 1 to 525600, or a duration such as 2h'],
    ['timeout', '0', 'must be a whole number of minutes from 1 to 525600, or a duration such as 2h'],
    ['concurrency', 0, 'must be >= 1'],
    ['concurrency', '3', 'must be integer'],
    ['runner_type', 'podman', 'must be one of host, docker, ssh'],
    ['run_mode', 'remote', 'must be one of local, distributed, cloud'],
    ['workspace', '../up', 'must match pattern "^[A-Za-z0-9._-]{1,128}$"'],
    ['workspace', 'a b', 'must match pattern "^[A-Za-z0-9._-]{1,128}$"'],
    ['cloud_instances', 0, 'must be >= 1'],
    ['cloud_auto_destroy', 'yes', 'must be boolean'],
  ])('the field %s may not be %j', (name, value, message) =>
    refused(
      { ...good, [name]: value },
      400,
      refusal('invalid_input', `${name}: ${message}`, [detail(`/${name}`, message)]),
    ),
  )

  test('missing required params are refused', () =>
    refused(
      { module: 'needy', target: 'example.com' },
      400,
      refusal('invalid_input', 'params/wordlist: required parameter missing: wordlist', [
        detail('/params/wordlist', 'required parameter missing: wordlist'),
      ]),
    ))
})

describe('POST /runs 400: runners and modes', () => {
  const good = { module: 'probe', target: 'example.com' }

  test.each([
    [{ runner_type: 'docker' }, '/docker_image', 'is required with the runner docker: the workflow has none'],
    [{ runner_type: 'ssh' }, '/ssh_host', 'is required with the runner ssh: the workflow has none'],
    [{ docker_image: 'alpine' }, '/docker_image', 'requires runner_type docker'],
    [{ ssh_host: 'h' }, '/ssh_host', 'requires runner_type ssh'],
    [{ docker_network: 'none' }, '/docker_network', 'requires runner_type docker'],
    [
      { runner_type: 'host', docker_image: 'a' },
      '/docker_image',
      'requires runner_type docker, but it is host',
    ],
    [
      { runner_type: 'docker', ssh_host: 'a', docker_image: 'a' },
      '/ssh_host',
      'requires runner_type ssh, but it is docker',
    ],
    ...['--privileged', 'a b', '/abs'].map((image): [object, string, string] => [
      { runner_type: 'docker', docker_image: image },
      '/docker_image',
      'must be the name of an image, for example debian:12',
    ]),
    ...['-oProxyCommand=id', 'a b', 'h:70000'].map((host): [object, string, string] => [
      { runner_type: 'ssh', ssh_host: host },
      '/ssh_host',
      'must have the form user@host:port; user and port are optional',
    ]),
    [{ cloud_provider: 'aws' }, '/cloud_provider', 'requires run_mode cloud'],
    [{ run_mode: 'local', cloud_use_spot: false }, '/cloud_use_spot', 'requires run_mode cloud'],
  ])('the fields %j are refused', (fields, path, message) =>
    refused(
      { ...good, ...fields },
      400,
      refusal('invalid_input', `${path.slice(1)}: ${message}`, [detail(path, message)]),
    ),
  )

  test('run_mode distributed is refused by a server that is not a master', () =>
    refused(
      { ...good, run_mode: 'distributed' },
      400,
      refusal('master_required', 'distributed mode requires the server to be started with the --master flag'),
    ))

  test('run_mode cloud is refused while cloud mode is disabled', () =>
    refused(
      { ...good, run_mode: 'cloud', cloud_provider: 'aws', cloud_instances: 2 },
      400,
      refusal(
        'cloud_disabled',
        'cloud mode requires cloud support to be enabled in the settings: set cloud.enabled to true',
      ),
    ))
})

describe('POST /runs 400: cloud without a provider', () => {
  test('run_mode cloud is refused if no provider is configured', async () => {
    await using cloud = await testServer({ settings: { 'cloud.enabled': true } })
    await refused(
      { module: 'probe', target: 'example.com', run_mode: 'cloud' },
      400,
      refusal('cloud_credentials', 'cloud mode needs a cloud provider, and none is configured'),
      cloud,
    )
  })
})

describe('POST /runs 400: targets', () => {
  test('blank targets and comments alone are refused', async () => {
    for (const [field, body] of [
      ['target', { target: '  ' }],
      ['target', { target: '' }],
      ['targets', { targets: [] }],
      ['targets', { targets: ['', '# only a note'] }],
    ] as const)
      await refused(
        { module: 'probe', ...body },
        400,
        refusal('invalid_target', `${field}: no target was given`, [
          detail(`/${field}`, 'contains no target'),
        ]),
      )
  })

  test('invalid targets of a list are reported with their index', () =>
    refused(
      { module: 'probe', targets: ['a.example', 'b;c', 'd.example', '-e'] },
      400,
      refusal(
        'invalid_target',
        'targets: target 2: a target may contain ; only in the path, query or fragment of a URL (and 1 more)',
        [
          detail(
            '/targets/1',
            'target 2: a target may contain ; only in the path, query or fragment of a URL',
          ),
          detail(
            '/targets/3',
            'target 4: a target must not begin with "-", or tools would take it for an option',
          ),
        ],
      ),
    ))

  test('more targets than the limit are refused', async () => {
    const targets = Array.from({ length: 51 }, (_, index) => `h${index}.example`)
    await refused(
      { module: 'probe', targets },
      400,
      refusal('invalid_target', 'a request has at most 50 targets: send several requests', [
        detail('', 'contains more than 50 targets'),
      ]),
      master,
    )
  })
})

describe('POST /runs 400: target files', () => {
  const OUTSIDE =
    'must be a path returned by POST /upload-file, or a file below a folder of the setting target_file.folders'
  const fileRefused = (target_file: string, message: string) =>
    refused(
      { module: 'probe', target_file },
      400,
      refusal('invalid_input', `target_file: ${message}`, [detail('/target_file', message)]),
      master,
    )
  const linesRefused = async (content: string | Buffer, message: string): Promise<void> => {
    const before = await totalRuns(master)
    await writeFile(join(lists, 'bad.txt'), content)
    await refused(
      { module: 'probe', target_file: join(lists, 'bad.txt') },
      400,
      refusal('invalid_target', `target_file: ${message}`, [detail('/target_file', message)]),
      master,
    )
    expect(await totalRuns(master)).toBe(before)
  }

  test.each(['/etc/passwd', 'good.txt', './good.txt'])(
    'a target file outside the folders is refused: %s',
    (path) => fileRefused(path, OUTSIDE),
  )

  test('an invalid line is reported with its number, and nothing is created', () =>
    linesRefused(
      'a.example\n\n# note\nb;c\nd.example\n',
      'line 4: a target may contain ; only in the path, query or fragment of a URL',
    ))

  test('a binary file is refused', () =>
    linesRefused(Buffer.alloc(100), 'line 1: a target must not contain the character U+0000'))

  test('an empty file is refused', async () => {
    await writeFile(join(lists, 'empty.txt'), '')
    await refused(
      { module: 'probe', target_file: join(lists, 'empty.txt') },
      400,
      refusal('invalid_target', 'target_file: no target was given', [
        detail('/target_file', 'contains no target'),
      ]),
      master,
    )
  })
})

describe('POST /runs 404', () => {
  test('an unknown workflow is refused', async () => {
    const response = await post({ module: 'nope', target: 'example.com' }).expect(404)
    expect(response.body).toMatchObject({ error: true, code: 'workflow_not_found' })
    expect(response.body.message).toMatch(/^There is no module named "nope"\./)
    await post({ flow: '../../etc/passwd', target: 'example.com' }).expect(404)
  })

  test.each([
    ['flow', 'probe', '"probe" is a module, not a flow: send it as "module"'],
    ['module', 'survey', '"survey" is a flow, not a module: send it as "flow"'],
  ])('a %s of the other kind is refused', (kind, name, message) =>
    refused(
      { [kind]: name, target: 'example.com' },
      404,
      refusal('workflow_not_found', message, [detail(`/${kind}`, message)]),
    ),
  )
})

describe('POST /runs 409', () => {
  test('a workflow with a disabled manual trigger cannot be started manually', async () => {
    const upload = async (name: string, triggers: string): Promise<void> => {
      const yaml = PROBE.replace('name: probe', `name: ${name}\ntriggers:\n${triggers}`)
      await server.admin
        .post('/api/workflow-upload')
        .attach('file', Buffer.from(yaml), `${name}.yaml`)
        .expect(201)
    }
    await upload('shut', '  - {name: by-hand, on: manual, enabled: false}')
    await upload('open', '  - {name: by-hand, on: manual, enabled: true}')
    const shut = await post({ module: 'shut', target: 'example.com' }).expect(409)
    expect(shut.body).toMatchObject({ error: true, code: 'wrong_state' })
    expect(shut.body.message).toContain('Manual trigger is disabled for this module')
    await post({ module: 'open', target: 'example.com' }).expect(202)
  })
})

describe('POST /runs 400: a broken workflow', () => {
  test('a broken workflow is refused with the positions of its errors', async () => {
    const response = await post({ module: 'broken', target: 'example.com' }).expect(400)
    expect(response.body.code).toBe('invalid_workflow')
    expect(response.body.details[0].path).toMatch(/^broken\.yaml:\d+:\d+$/)
  })
})

describe('POST /runs with an Idempotency-Key', () => {
  const body = { module: 'probe', target: 'once.example' }
  const send = (key: string, sent: object = body) =>
    server.operator.post('/api/runs').set('Idempotency-Key', key).send(sent)

  test('a repeated key with the same body returns the first answer and starts nothing', async () => {
    const first = await send('key-1').expect(202)
    const before = await totalRuns()
    const again = await send('key-1', { target: 'once.example', module: 'probe' }).expect(202)
    expect(again.body).toEqual(first.body)
    expect(again.headers['content-type']).toBe(first.headers['content-type'])
    expect(await totalRuns()).toBe(before)
  })

  test('a repeated key with another body answers 409', async () => {
    await send('key-3').expect(202)
    const response = await send('key-3', { ...body, priority: 'high' }).expect(409)
    expect(response.body).toEqual(
      refusal(
        'idempotency_conflict',
        'this Idempotency-Key was used before with another request; use a new key',
      ),
    )
  })

  test('the keys of different callers are independent', async () => {
    const first = await send('key-4').expect(202)
    const other = await server.admin.post('/api/runs').set('Idempotency-Key', 'key-4').send(body).expect(202)
    expect(other.body.job_id).not.toBe(first.body.job_id)
  })

  test('a key of a refused request can be used again', async () => {
    await send('key-5', { module: 'nope', target: 'a' }).expect(404)
    await send('key-5').expect(202)
  })

  test.each(['x'.repeat(256), 'a b'])('an invalid key answers 400', async (key) => {
    const response = await send(key).expect(400)
    expect(response.body).toEqual(
      refusal('bad_request', 'Idempotency-Key must have 1 to 255 printable ASCII characters'),
    )
  })
})
