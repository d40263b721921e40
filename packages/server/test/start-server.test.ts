// long
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { asSuperuser, testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { linkPrograms, until } from '@scanfarm/testing'
import { startServer, type RunningServer } from '../src/index.ts'
import { SETTINGS, type Config } from '../src/settings.ts'

const TOKEN = 'sft_start_server_test'
const OPEN_TO_COMMANDS = 0o711

const module = (name: string, command: string): string => `kind: module
name: ${name}
steps:
  - name: only
    type: bash
    command: ${command}
`

let database: TestDatabase
let folder = ''
let programs = ''

beforeAll(async () => {
  database = await testDatabase()
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-start-'))
  await chmod(folder, OPEN_TO_COMMANDS)
  programs = await linkPrograms(join(folder, 'programs'))
  await mkdir(join(folder, 'workflows'))
  await writeFile(join(folder, 'workflows/quick.yaml'), module('quick', 'echo hello {{target}}'))
  await writeFile(join(folder, 'workflows/slow.yaml'), module('slow', 'sleep 300'))
  await writeFile(
    join(folder, 'workflows/saving.yaml'),
    module('saving', `'trap "sleep 6; echo saved; exit 0" TERM; echo begun; while true; do sleep 0.1; done'`),
  )
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const config = (settings: Record<string, unknown> = {}): Config =>
  readConfig(SETTINGS, {
    env: {},
    argvOverrides: {
      data_dir: join(folder, 'data'),
      'database.url': database.url,
      'workflows.folders': [join(folder, 'workflows')],
      'auth.initial_token': TOKEN,
      'http.port': 0,
      'local.slots': 2,
      'runner.path': programs,
      'worker.drain_ms': 500,
      ...settings,
    },
  })

const start = async (settings?: Record<string, unknown>): Promise<RunningServer> => {
  await mkdir(join(folder, 'data'), { recursive: true, mode: OPEN_TO_COMMANDS })
  return startServer(
    config(settings),
    {},
    {
      log: silentLogger,
      checkResponses: true,
      // The survey of this server expects no page.
      consoleRoot: folder,
    },
  )
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown> & { data: Record<string, unknown> }
}

const call = async (server: RunningServer, method: string, path: string, body?: object): Promise<Answer> => {
  const response = await fetch(`${server.url}/api${path}`, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const submit = async (server: RunningServer, name: string): Promise<string> =>
  String((await call(server, 'POST', '/runs', { module: name, target: 'a.example' })).body.run_uuid)

const runUntil = (
  server: RunningServer,
  uuid: string,
  good: (run: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> =>
  until(async () => (await call(server, 'GET', `/runs/${uuid}`)).body.data, good)

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** An upload whose second half is sent on request. */
const slowUpload = (server: RunningServer): { status: Promise<number | undefined>; finish(): void } => {
  const upload = request(`${server.url}/api/upload-file`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'multipart/form-data; boundary=x' },
  })
  const status = once(upload, 'response').then(
    ([response]: IncomingMessage[]) => response?.resume().statusCode,
  )
  status.catch(() => undefined)
  upload.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nfirst\n')
  return { status, finish: () => upload.end('second\r\n--x--\r\n') }
}

/** The first half of an upload is on its way to the artifact store. */
const arrived = (): Promise<unknown> =>
  until(async () => {
    const files = await readdir(join(folder, 'data/artifacts/~incoming')).catch(() => [])
    return files.length > 0
  })

test('wanted topics are kept after a long time without a server', async () => {
  const sql = (statement: string) => database.sql<{ topic: string }>(statement)
  const waiting = join(folder, 'waiting')
  await mkdir(waiting)
  const trigger = 'triggers: [{ name: t, on: event, enabled: true, event: { topic: custom.wanted } }]\n'
  await writeFile(join(waiting, 'waits.yaml'), module('waits', 'echo {{target}}') + trigger)
  await sql(`
    create table forgotten (topic text);
    create function note_forgotten() returns trigger language plpgsql as
      'begin insert into forgotten values (old.topic); return old; end';
    create trigger note_forgotten after delete on trigger_topics for each row execute function note_forgotten();
    insert into trigger_topics (topic, seen_at)
    select topic, now() - interval '1 day' from unnest(array['custom.wanted', 'custom.unwanted']) topic`)
  const forgotten = async () => (await sql('select topic from forgotten')).rows.map(({ topic }) => topic)
  const held = 'select from pg_locks where relation = $$schedules$$::regclass and not granted'
  // The receiver and the pruning loop both have to load the triggers first.
  await using _ = await asSuperuser(async (client) => {
    await client.query('begin; lock table schedules')
    const server = await start({ 'workflows.folders': [waiting] })
    await until(async () => (await sql(held)).rows.length > 1 || (await forgotten()).length > 0)
    await client.query('commit')
    return server
  }, database.url)
  await until(async () => (await forgotten()).includes('custom.unwanted'))
  expect(await forgotten()).toEqual(['custom.unwanted'])
  await sql(
    'drop trigger note_forgotten on trigger_topics; drop function note_forgotten; drop table forgotten',
  )
})

describe('a server with local slots', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
  })

  test('a server with local slots executes a local run and stores its output', async () => {
    const uuid = await submit(server, 'quick')
    const run = await runUntil(server, uuid, ({ status }) => status === 'completed')
    expect(run).toMatchObject({ total_steps: 1, completed_steps: 1, error_message: '' })
    const steps = (await call(server, 'GET', `/runs/${uuid}/steps`)).body.data as unknown as unknown[]
    expect(steps).toMatchObject([
      { step_name: 'only', status: 'completed', output: 'hello a.example\n', exit_code: 0 },
    ])
  })

  test('a server with local slots kills the processes of a cancelled run and reports them', async () => {
    const uuid = await submit(server, 'slow')
    await runUntil(server, uuid, ({ status }) => status === 'running')
    const pid = await until(async () => {
      const { data } = (await call(server, 'GET', '/runs?limit=1')).body
      const [run] = data as unknown as { current_pid: number }[]
      return run?.current_pid || undefined
    })
    expect(isAlive(pid)).toBe(true)
    const { status, body } = await call(server, 'DELETE', `/runs/${uuid}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ run_uuid: uuid, kill_method: 'registry' })
    expect(body.killed_pids).toContain(pid)
    expect(body.processes_terminated).toBe((body.killed_pids as number[]).length)
    expect(isAlive(pid)).toBe(false)
    await runUntil(server, uuid, (run) => run.status === 'cancelled')
  })

  test('the slots of a server are listed among the workers', async () => {
    await until(async () => {
      const { data } = (await call(server, 'GET', '/workers')).body
      const workers = data as unknown as { kind: string; slots: number }[]
      return workers.some(({ kind, slots }) => kind === 'server' && slots === 2)
    })
  })

  test('the flow service-survey records host, port and web server as assets and problems as findings', async () => {
    const { host, port } = new URL(server.url)
    const { body } = await call(server, 'POST', '/runs', { flow: 'service-survey', target: host })
    const isOver = ({ status }: Record<string, unknown>) => status === 'completed' || status === 'failed'
    const run = await runUntil(server, String(body.run_uuid), isOver)
    expect(run).toMatchObject({ status: 'completed', total_steps: 17, completed_steps: 17, outcome: 'clean' })
    const assets = (await call(server, 'GET', `/assets?workspace=${String(run['workspace'])}`)).body.data
    expect(assets).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ asset_type: 'ip', asset_value: '127.0.0.1', open_ports: [port] }),
        expect.objectContaining({ asset_type: 'port', asset_value: host, source: 'service-survey' }),
        expect.objectContaining({ asset_type: 'http', url: `http://${host}/`, status_code: 404 }),
      ]),
    )
    const findings = await call(server, 'GET', `/vulnerabilities?workspace=${String(run['workspace'])}`)
    expect(findings.body.data).toEqual(
      expect.arrayContaining([expect.objectContaining({ vuln_title: 'HTTP service' })]),
    )
  })
})

describe('a server that stops', () => {
  test('a server that stops hands back unfinished runs, and the next server takes them', async () => {
    let server = await start()
    const uuid = await submit(server, 'slow')
    await runUntil(server, uuid, ({ status }) => status === 'running')
    await server[Symbol.asyncDispose]()
    const kept = await database.store.runs.find(uuid)
    expect(kept).toMatchObject({ status: 'queued' })
    server = await start()
    try {
      await runUntil(server, uuid, ({ status }) => status === 'running')
      expect((await call(server, 'DELETE', `/runs/${uuid}`)).status).toBe(200)
    } finally {
      await server[Symbol.asyncDispose]()
    }
  })

  test('a server that stops answers its open requests and accepts no new ones', async () => {
    const server = await start({ 'worker.drain_ms': 10_000 })
    const upload = slowUpload(server)
    let stopping: PromiseLike<void> | undefined
    try {
      await arrived()
    } finally {
      stopping = server[Symbol.asyncDispose]()
    }
    await expect(fetch(`${server.url}/health`)).rejects.toThrow('fetch failed')
    upload.finish()
    expect(await upload.status).toBe(200)
    await stopping
  })

  test('a server that stops closes requests that exceed the drain time', async () => {
    const server = await start({ 'worker.drain_ms': 100 })
    const upload = slowUpload(server)
    try {
      await arrived()
    } finally {
      await server[Symbol.asyncDispose]()
    }
    await expect(upload.status).rejects.toMatchObject({ code: 'ECONNRESET' })
  })
})

describe('a server without local slots', () => {
  test('a server without local slots refuses local runs unless another server accepts them', async () => {
    await using server = await start({ 'local.slots': 0 })
    const body = { module: 'quick', target: 'example.com' }
    const refused = await call(server, 'POST', '/runs', body)
    expect(refused).toMatchObject({ status: 400, body: { code: 'local_disabled' } })
    await using _other = await start({ data_dir: join(folder, 'other-data') })
    const runs = () => call(server, 'POST', '/runs', body)
    await until(async () => (await runs()).status === 202)
  })
})

test('a cancelled run may use its whole grace period, longer than the request waits, and its report is stored', async () => {
  await using server = await start({ 'runs.cancel_grace_ms': 30_000, 'worker.drain_ms': 30_000 })
  const uuid = await submit(server, 'saving')
  const output = async (): Promise<string> => {
    const { data } = (await call(server, 'GET', `/runs/${uuid}/steps`)).body
    return String((data as unknown as { output: string }[])[0]?.output)
  }
  await until(output, (text) => text.includes('begun'))
  const began = performance.now()
  const { status, body } = await call(server, 'DELETE', `/runs/${uuid}`)
  // The request waits for five seconds, a busy machine adds some; the grace period has 30.
  expect(performance.now() - began).toBeLessThan(25_000)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    message: 'Run cancelled successfully',
    status: 'running',
    note: expect.stringContaining('30 s'),
  })
  const run = await runUntil(server, uuid, (now) => now['status'] !== 'running')
  expect(run).toMatchObject({ status: 'cancelled', error_message: 'cancelled on request' })
  expect(await output()).toContain('saved')
}, 120_000)
