// long
import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { PROBE, testServer } from '../_server.ts'

const server = forAllTests(() => testServer())

const upload = (yaml: string | Buffer, name = 'mine.yaml') =>
  server.admin.post('/api/workflow-upload').attach('file', Buffer.from(yaml), name)
const names = async (query = ''): Promise<string[]> => {
  const { body } = await server.viewer.get(`/api/workflows?limit=1000&${query}`).expect(200)
  return (body.data as { name: string }[]).map(({ name }) => name)
}

const MINE = `kind: module
name: mine
description: First version
steps:
  - name: hello
    type: bash
    command: echo {{target}}
`

describe('GET /workflows', () => {
  test('workflows of the settings and shipped ones are listed, including broken ones', async () => {
    expect(await names()).toEqual(expect.arrayContaining(['broken', 'probe', 'service-survey', 'survey']))
    const { body } = await server.viewer.get('/api/workflows?search=says%20hello').expect(200)
    expect(body).toEqual({
      data: [
        {
          id: expect.any(Number),
          name: 'probe',
          kind: 'module',
          description: 'Says hello',
          tags: ['network', 'quick'],
          hidden: false,
          file_path: 'probe.yaml',
          source: expect.any(String),
          params: [
            { name: 'depth', type: 'string', default: '1', required: false, description: '' },
            { name: 'flags', type: 'string', default: null, required: false, description: '' },
          ],
          required_params: [],
          step_count: 1,
          module_count: 0,
          hook_count: 0,
          params_json: JSON.stringify([
            { name: 'depth', type: 'string', default: '1', required: false, description: '' },
            { name: 'flags', type: 'string', default: null, required: false, description: '' },
          ]),
          checksum: createHash('sha256').update(PROBE).digest('hex'),
          indexed_at: expect.any(String),
          created_at: expect.any(String),
          updated_at: expect.any(String),
          valid: true,
          missing_tools: [],
        },
      ],
      pagination: { total: 1, offset: 0, limit: 50 },
      count: 1,
    })
  })

  test('workflows are filtered by kind and tags, and paged', async () => {
    expect(await names('kind=flow')).toContain('survey')
    expect(await names('kind=flow')).not.toContain('probe')
    expect(await names('tags=nothing,Quick')).toEqual(['probe'])
    const { body } = await server.viewer.get('/api/workflows?limit=1&offset=1').expect(200)
    expect(body.data).toHaveLength(1)
    expect(body.pagination.total).toBe(body.count)
  })

  test('both sources list the same workflows, and filesystem lists all of them', async () => {
    const fromFiles = await server.viewer.get('/osm/api/workflows?source=filesystem').expect(200)
    expect(fromFiles.body.data).toHaveLength(fromFiles.body.count)
    expect(await names('source=db')).toEqual(await names('source=filesystem'))
    expect(await names('search=&tags=')).toEqual(await names())
  })

  test.each(['kind=thing', 'source=web', 'limit=0', 'colour=red'])(
    'the query %s answers 400',
    async (query) => {
      await server.viewer.get(`/api/workflows?${query}`).expect(400)
    },
  )
})

describe('GET /workflows/tags', () => {
  test('each tag is listed once', async () => {
    const { body } = await server.viewer.get('/osm/api/workflows/tags').expect(200)
    expect(body.tags).toEqual(expect.arrayContaining(['network', 'quick']))
    expect(body.tags).toEqual([...new Set(body.tags)].sort())
    expect(body.count).toBe(body.tags.length)
  })
})

describe('POST /workflows/refresh', () => {
  const refresh = async (): Promise<unknown> =>
    (await server.operator.post('/osm/api/workflows/refresh?force=true').expect(200)).body
  test('a refresh counts new, changed and removed files and names broken ones', async () => {
    await refresh()
    const file = join(server.folder, 'workflows', 'fresh.yaml')
    await writeFile(file, MINE.replace('mine', 'fresh'))
    expect(await refresh()).toEqual({
      message: 'Workflows refreshed',
      added: 1,
      updated: 0,
      removed: 0,
      errors: [expect.stringMatching(/^broken\.yaml:5:\d+: /)],
    })
    await writeFile(file, MINE.replace('mine', 'fresh').replace('First', 'A second'))
    expect(await refresh()).toMatchObject({ added: 0, updated: 1, removed: 0 })
    await rm(file)
    expect(await refresh()).toMatchObject({ added: 0, updated: 0, removed: 1 })
    expect(await refresh()).toMatchObject({ added: 0, updated: 0, removed: 0 })
  })
})

describe('GET /workflows/{name}', () => {
  test('a workflow is returned as its YAML text', async () => {
    const { text } = await server.viewer
      .get('/api/workflows/probe')
      .expect(200)
      .expect('Content-Type', 'application/yaml; charset=utf-8')
    expect(text).toBe(PROBE)
  })

  test('a workflow is returned as JSON with json=true', async () => {
    const { body } = await server.viewer.get('/api/workflows/probe?json=true').expect(200)
    expect(body).toMatchObject({
      name: 'probe',
      kind: 'module',
      steps: [{ index: 0, name: 'hello', type: 'bash' }],
      problems: [],
    })
  })

  test('a broken workflow is returned with its problems', async () => {
    const { body } = await server.viewer.get('/api/workflows/broken?json=true').expect(200)
    expect(body.valid).toBe(false)
    expect(body.problems).toContainEqual(
      expect.objectContaining({ line: 5, rule: 'wrong-value', severity: 'error' }),
    )
  })

  test.each(['nope', '..%2F..%2Fetc%2Fpasswd', '%2Fetc%2Fpasswd'])(
    'the workflow %s answers 404',
    async (name) => {
      const { body } = await server.viewer.get(`/api/workflows/${name}`).expect(404)
      expect(body).toEqual({
        error: true,
        message: `workflow not found: no workflow is named "${decodeURIComponent(name)}"; see GET /workflows`,
        code: 'workflow_not_found',
        request_id: expect.any(String),
        details: [],
      })
    },
  )
})

describe('POST /workflows/lint', () => {
  const sent = (yaml: string) =>
    server.viewer.post('/api/workflows/lint').set('Content-Type', 'text/yaml').send(yaml)

  test('all problems of the file are returned with their positions, and nothing is added', async () => {
    const { body } = await sent(
      MINE.replace('bash', 'nonsense').replace('name: mine', 'name: linted'),
    ).expect(200)
    expect(body.valid).toBe(false)
    expect(body.problems).toContainEqual({
      file: 'workflow.yaml',
      line: 6,
      column: expect.any(Number),
      rule: 'wrong-value',
      severity: 'error',
      message: expect.any(String),
      hint: expect.any(String),
    })
    expect(await names()).not.toContain('linted')
  })

  test('a form is accepted, and only errors make a file invalid', async () => {
    const { body } = await server.viewer
      .post('/api/workflows/lint')
      .attach('file', Buffer.from(`${MINE}descripton: x\n`), 'mine.yaml')
      .expect(200)
    expect(body).toMatchObject({ valid: true, problems: [{ file: 'mine.yaml', severity: 'warning' }] })
  })

  test('GET /workflows/lint refers to a workflow named lint', async () => {
    await server.viewer.get('/api/workflows/lint').expect(404)
    await server.viewer.delete('/api/workflows/lint').expect(405)
  })

  test('a file above 1 MiB answers 413', async () => {
    await sent('#'.repeat(1024 * 1024 + 1)).expect(413)
  })

  test('other requests are answered while a large file is checked', async () => {
    const step = (index: number) =>
      `  - {name: s${index}, type: bash, command: "echo {{Target}}", depends_on: [t${index}]}\n`
    const file = `kind: module\nname: large\nsteps:\n${Array.from({ length: 3_000 }, (_, index) => step(index)).join('')}`
    let done = false
    const linted = sent(file).then((answer) => {
      done = true
      return answer
    })
    let answered = 0
    do {
      await server.nobody.get('/api/health').expect(200)
      answered += 1
    } while (!done)
    expect((await linted).body.problems).toHaveLength(1_001)
    expect(answered).toBeGreaterThan(3)
  })

  test('too many waiting files answer 503 with Retry-After', async () => {
    const file = `kind: module\nname: large\nsteps:\n${'  - {name: a, type: bash, command: echo}\n'.repeat(2_000)}`
    const answers = await Promise.all(Array.from({ length: 30 }, () => sent(file)))
    const refused = answers.filter(({ status }) => status === 503)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(3)
    expect(refused.length).toBeGreaterThan(3)
    expect(refused[0]?.headers['retry-after']).toBe('2')
    expect(refused[0]?.body.code).toBe('unavailable')
  })
})

describe('GET /workflow.schema.json', () => {
  test('the schema is available below every root without a token', async () => {
    for (const root of ['', '/api', '/osm/api']) {
      const { body } = await server.nobody
        .get(`${root}/workflow.schema.json`)
        .expect(200)
        .expect('Content-Type', 'application/schema+json; charset=utf-8')
      expect(body).toMatchObject({ $schema: expect.any(String), title: 'Scanfarm workflow' })
    }
  })
})

describe('POST /workflow-upload', () => {
  test('an upload adds a workflow that can be started immediately, and replaces it', async () => {
    const { body } = await upload(MINE).expect(201)
    expect(body).toEqual({
      message: 'Workflow uploaded',
      name: 'mine',
      kind: 'module',
      description: 'First version',
      path: 'uploaded/modules/mine.yaml',
      warnings: [],
    })
    await server.operator.post('/api/runs').send({ module: 'mine', target: 'a.example' }).expect(202)
    await upload(MINE.replace('First', 'Second')).expect(201)
    const { text } = await server.viewer.get('/api/workflows/mine').expect(200)
    expect(text).toContain('Second version')
  })

  test('an uploaded workflow takes precedence over a file with the same name', async () => {
    await upload(PROBE.replace('Says hello', 'Says more')).expect(201)
    const { text } = await server.viewer.get('/api/workflows/probe').expect(200)
    expect(text).toContain('Says more')
  })

  test.each([
    ['bad YAML', 'kind: module\nname: [', /^mine\.yaml:\d+:\d+$/],
    ['an unknown step type', MINE.replace('bash', 'nonsense'), /^mine\.yaml:6:\d+$/],
    ['no steps', 'kind: module\nname: mine\n', /^mine\.yaml/],
    ['no workflow at all', 'hello: world\n', /^mine\.yaml/],
  ])('a file with %s answers 400 with the position', async (_what, yaml, place) => {
    const { body } = await upload(yaml).expect(400)
    expect(body.code).toBe('invalid_workflow')
    expect(body.details[0].path).toMatch(place)
    expect(body.message).toMatch(/^mine\.yaml:\d+:\d+: /)
  })

  test('a file that is not text answers 400', async () => {
    const { body } = await upload(Buffer.from([0xff, 0xfe, 0x00])).expect(400)
    expect(body).toMatchObject({ code: 'invalid_workflow', message: 'the file is not valid UTF-8' })
  })

  test('a file above 1 MiB answers 413', async () => {
    await upload(Buffer.alloc(1024 * 1024 + 1, '#')).expect(413)
  })

  test('a request without a file answers 400', async () => {
    await server.admin.post('/api/workflow-upload').field('note', 'x').expect(400)
  })

  test('an upload answers 403 if the settings forbid it', async () => {
    await using closed = await testServer({ settings: { 'workflows.upload': false } })
    const { body } = await closed.admin
      .post('/api/workflow-upload')
      .attach('file', Buffer.from(MINE), 'mine.yaml')
      .expect(403)
    expect(body.message).toBe('uploading workflows is disabled: set workflows.upload to true in the settings')
  })
})
