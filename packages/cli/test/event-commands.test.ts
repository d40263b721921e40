import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventEmitted, Schedule } from '@scanfarm/contracts'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { listen, until } from '@scanfarm/testing'
import { runCaptured } from './captured-terminal.ts'
import { TestCluster, TOKEN } from './cluster/test-cluster.ts'

const START_MS = 300_000

let folder = ''
let cluster: TestCluster
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-cli-'))
  cluster = await TestCluster.start({
    queue: 'postgres',
    workers: 0,
    env: { SCANFARM_WEBHOOKS_ALLOW_PRIVATE: 'true' },
  })
}, START_MS)
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
}, START_MS)

const run = (...args: string[]) =>
  runCaptured(args, {
    SCANFARM_DATA_DIR: folder,
    SCANFARM_URL: cluster.client.url,
    SCANFARM_TOKEN: TOKEN,
  })

const parsed = async <T>(...args: string[]): Promise<T> => JSON.parse((await run(...args, '--json')).out) as T

const job = async (module = 'noop'): Promise<string> => {
  const { out } = await run('run', '-m', module, '-t', 'night.test', '--wait', '--json')
  return /"job_id": "([0-9a-f]{16})"/.exec(out)?.[1] ?? ''
}

test('diff compares two jobs, and report writes a page about one thing', async () => {
  const [earlier, later] = [await job(), await job()]
  expect(await run('diff', earlier, later)).toEqual({
    code: 0,
    out: 'new: 0; back: 0; gone: 0; not tested: 0\n',
    err: '',
  })
  expect((await run('diff', '0123456789abcdef', later)).code).toBe(5)
  const line = `{"template-id":"%s","info":{"name":"x","severity":"%s"},"host":"http://night.test"}\\n`
  const command = `for s in low medium critical; do printf '${line}' $s $s; done > found.jsonl`
  const record = { name: 'record', type: 'function', function: 'db_import_vuln_from_file("", "found.jsonl")' }
  const finder = { kind: 'module', name: 'finder', steps: [{ name: 'write', type: 'bash', command }, record] }
  writeFileSync(join(cluster.folder, 'workflows', 'finder.yaml'), JSON.stringify(finder))
  expect((await run('diff', later, await job('finder'))).out).toMatch(
    /^new: 1 critical, 1 medium, 1 low; back: 0; /,
  )
  expect(await run('findings', 'list', '--since', later)).toMatchObject({ code: 0, err: '' })
  expect((await run('findings', 'list', '--since', '0123456789abcdef')).err).toContain('there is no job')
  const file = join(folder, 'report.html')
  // -o is the older spelling.
  for (const option of ['--to', '-o']) {
    expect(await run('report', '--job', later, option, file)).toEqual({ code: 0, out: `${file}\n`, err: '' })
    expect(readFileSync(file, 'utf8')).toContain(`Report of job ${later}`)
    rmSync(file)
  }
  const csv = ['findings', 'export', '--format', 'csv']
  for (const args of [['report', later], csv])
    expect((await run(...args, '-o', 'json')).err).toContain('write to a file with --to FILE')
  expect((await run('report')).err).toContain('give a workspace, --schedule or --job')
  expect((await run('report', '--schedule', 'no-such')).code).toBe(5)
})

test('queue shows what waits by workflow, and why', async () => {
  expect((await run('queue')).out).toBe('nothing waits\n')
  await run('run', '-m', 'noop', '-t', 'waiting.test', '--mode', 'distributed')
  const { out } = await run('queue')
  expect(out).toMatch(/WAITING +RUNNING +JOBS +OLDEST +WORKFLOW\n1 +0 +1 +\d+\w +noop\n/)
  expect(out).toMatch(/1 +normal +\d+\w +no live worker/)
  expect((await run('runs', 'list', '--target', 'waiting.test')).out).toBe(
    (await run('runs', '--target', 'waiting.test')).out,
  )
})

test('A schedule is named, and a name of several is refused', async () => {
  const create = (name: string) =>
    run('schedules', 'create', name, '-w', 'noop', '--cron', '0 3 * * *', '-t', 'a.test')
  expect((await create('one')).out.replaceAll(/(?<=sch_)\w+|\d\d-\d\d(?= 03)/g, '…')).toBe(
    [
      'id          sch_…',
      'name        one',
      'enabled     yes',
      'when        0 3 * * * UTC',
      'next (utc)  … 03:00',
      'workflow    noop',
      'target      a.test',
      '',
    ].join('\n'),
  )
  expect((await run('schedules', 'trigger', 'one')).out).toContain('Schedule triggered')
  expect((await create('twice')).err).toBe('')
  expect((await create('twice')).err).toMatch(/^scanfarm: name: several schedules have this name: /)
  const hook = ['webhooks', 'create', 'two', 'http://127.0.0.1:9/']
  expect((await run(...hook)).err).toBe('')
  expect((await run(...hook)).err).toMatch(/^scanfarm: name: several subscriptions have this name: /)
  const refused = await run('schedules', 'remove', 'twice')
  expect(refused.code).toBe(5)
  expect(refused.err).toMatch(/kind schedule have the name "twice"; give an id: sch_\w+, sch_\w+/)
})

describe('schedules and events', () => {
  test('schedules creates, lists, disables, triggers and removes a schedule', async () => {
    const made = await parsed<Schedule>(
      ...'schedules create nightly -w noop -t a.test --timezone Europe/Berlin --cron'.split(' '),
      '0 3 * * *',
    )
    expect(made).toMatchObject({ schedule: '0 3 * * *', workflow_name: 'noop', is_enabled: true })
    expect((await run('schedules', 'list')).out).toMatch(
      /nightly +yes +0 3 \* \* \* Europe\/Berlin .* noop +a\.test/,
    )
    expect((await run('schedules', 'disable', 'nightly')).out).toContain('Schedule disabled')
    expect((await run('schedules', 'trigger', 'nightly')).out).toContain('Schedule triggered')
    expect((await run('events', 'list', '--topic', 'schedule.triggered')).out).toMatch(
      /^\d+ +\d\d-\d\d \d\d:\d\d +schedule\.triggered +\w+ +\w* +\{/m,
    )
    expect((await run('schedules', 'remove', made.id)).code).toBe(0)
    const bad = await run('schedules', 'create', 'bad', '-w', 'noop', '--cron', 'soon', '-t', 'a.test')
    expect(bad).toMatchObject({ code: 5, err: expect.stringContaining('has 1 fields') })
  })

  test('schedules create takes each -t as one target', async () => {
    const words = ['-w', 'noop', '--cron', '0 3 * * *', '--param', 'a=1', '--params', 'b=2']
    const create = (name: string, ...targets: string[]) =>
      parsed<Schedule>('schedules', 'create', name, ...words, ...targets.flatMap((target) => ['-t', target]))
    const made = await create('several', 'a.test', 'b.test')
    expect(made).toMatchObject({ target: '', targets: ['a.test', 'b.test'], params: { a: '1', b: '2' } })
    expect(await create('one', 'a.test,b.test')).toMatchObject({ target: 'a.test,b.test' })
    expect((await run('schedules', 'list', '--limit', '1')).out).toMatch(/1 of \d+; continue with --offset 1/)
    expect((await run('schedules', 'list')).out).toMatch(/several .*a\.test b\.test/)
    const fired = await parsed<{ job_id: string }>('schedules', 'trigger', made.id)
    expect(await parsed('job', fired.job_id)).toMatchObject({ total_runs: 2 })
    const bad = await run('schedules', 'create', 'bad', '-w', 'noop', '--cron', '0 3 * * *', '-t', 'a;b')
    expect(bad.err.match(/may contain ; only in the path/g)).toHaveLength(1)
  })

  test('webhooks creates, lists, tests and removes a subscription by its name', async () => {
    const topics: unknown[] = []
    await using endpoint = createServer((request, response) => {
      topics.push(request.headers['x-scanfarm-event'])
      response.writeHead(topics.length === 1 ? 204 : 503).end()
    })
    const url = `http://127.0.0.1:${await listen(endpoint)}/`
    const options = ['--format', 'teams', '--min-severity', 'high', '--template', '{{event.topic}}']
    expect(await parsed('webhooks', 'create', 'chat', url, ...options)).toMatchObject({
      name: 'chat',
      min_severity: 'high',
      template: '{{event.topic}}',
      topics: ['schedule.ended'],
      secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect((await run('notify', 'list')).out).toMatch(/chat +teams +yes +schedule\.ended +http/)
    expect(await run('webhooks', 'test', 'chat')).toMatchObject({
      code: 0,
      out: expect.stringContaining('204'),
    })
    expect(await run('webhooks', 'test', 'chat')).toMatchObject({
      code: 1,
      err: expect.stringContaining('the example did not arrive: the endpoint answered 503'),
    })
    expect(topics).toEqual(['job.ended', 'job.ended'])
    const heard = ['--topic', 'custom.heard']
    expect((await run('webhooks', 'create', 'mouth', url)).out.match(/^\w+/gm)?.join(' ')).toBe(
      'id name format enabled topics url secret',
    )
    await run('webhooks', 'create', 'ear', url, ...heard)
    await run('events', 'emit', 'custom.heard')
    const row = new RegExp(`^\\d+ .* \\d\\d-\\d\\d \\d\\d:\\d\\d +ear +custom\\.heard `, 'm')
    await until(async () => row.test((await run('webhooks', 'deliveries')).out))
    expect((await run('webhooks', 'deliveries', '--status', 'dead')).code).toBe(0)
    expect((await run('webhooks', 'remove', 'chat')).code).toBe(0)
    expect(await run('webhooks', 'remove', 'chat')).toMatchObject({
      code: 5,
      err: expect.stringContaining('there is no subscription "chat"'),
    })
  })

  test('events list --topic takes a shell glob, and an invalid one is refused', async () => {
    await run('events', 'emit', 'custom.globbed', '{}')
    expect((await run('events', 'list', '--topic', '*glob?ed')).out).toContain('custom.globbed')
    expect(await run('events', 'list', '--topic', 'custom.[z-a]')).toMatchObject({
      code: 5,
      err: expect.stringMatching(/^scanfarm: .*is not a shell glob\n {2}http\S+ answered 400/),
    })
  })

  test('events emit starts the workflows with a matching event trigger', async () => {
    await run(
      'schedules',
      'create',
      'built',
      '-w',
      'noop',
      '--event',
      'custom.built',
      '--input',
      'target=event_data.host',
    )
    const answer = await parsed<EventEmitted>('events', 'emit', 'custom.built', '{"host": "b.test"}')
    expect(answer.triggered_workflows).toEqual(['noop'])
    const forged = await run('events', 'emit', 'custom.built', '{}', '--source', 'executor')
    expect(forged.err).toContain('must not be executor')
    expect(await run('events', 'emit', 'custom.named', '{}', '--source', 'tool')).toMatchObject({ code: 0 })
    const log = await parsed<{ data: object[] }>('events', 'list', '--topic', 'custom.named')
    expect(log.data).toMatchObject([{ source: 'tool' }])
    for (const data of ['no json', '[1]', 'null'])
      expect((await run('events', 'emit', 'custom.built', data)).err).toContain('must be a JSON object')
  })
})
