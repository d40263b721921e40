import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Kysely, PostgresDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import { migrate } from '../src/index.ts'
import { MIGRATIONS } from '../src/migrations/index.ts'
import { asSuperuser, emptyDatabase } from './database.ts'

let database: Awaited<ReturnType<typeof emptyDatabase>>
beforeAll(async () => {
  database = await emptyDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const BEFORE = '0033-machine-locks'

const migrateBefore = async (url: string) => {
  const dialect = new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) })
  const db = new Kysely<unknown>({ dialect })
  const earlier = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name <= BEFORE))
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => earlier },
  }).migrateToLatest()
  await db.destroy()
  expect(error).toBeUndefined()
}

const sql = async (text: string) =>
  (await asSuperuser((client) => client.query<Record<string, unknown>>(text), database.url)).rows

const finding = (asset_value: string) =>
  JSON.stringify([
    {
      vuln_info: 'x',
      vuln_title: asset_value,
      severity: 'high',
      confidence: 'Firm',
      asset_type: 'web',
      asset_value,
    },
  ]).replace(
    '}',
    ',"vuln_desc":"","vuln_poc":"","tags":[],"detail_http_request":"","detail_http_response":"","raw_vuln_json":""}',
  )
const asset = (asset_type: string, asset_value: string, url: string, raw: object = {}) =>
  JSON.stringify([
    {
      asset_type,
      asset_value,
      url,
      host_ip: '',
      scheme: '',
      status_code: 200,
      title: '',
      content_type: '',
      raw_json_data: JSON.stringify(raw),
      open_ports: ['53'],
    },
  ])

test('records of an earlier release are joined where they are one place, and scopes where they differ in speed', async () => {
  await migrateBefore(database.url)
  for (const place of ['http://h', 'http://h:80', 'https://h:443', 'http://h:81'])
    await sql(`select save_vulnerabilities('w', '${finding(place)}', null, 'api')`)
  await sql(`update vulnerabilities set state = 'gone', gone_at = now() where asset_value = 'http://h'`)
  for (const items of [
    asset('http', 'h', 'http://h'),
    asset('http', 'h:80', 'http://h:80'),
    asset('port', 'h:80', ''),
    asset('port', 'h:53', '', { protocol: 'udp' }),
    asset('port', '::1:22', '', { protocol: 'tcp' }),
  ])
    await sql(`select save_assets('w', '${items}', null, 'api')`)
  await sql(`insert into pinned_workflows (hash, json) values (repeat('a', 64), '{}')`)
  for (const [n, params] of [{ rate: '1' }, { rate: '2' }, { ports: '1', rate: '1' }].entries())
    await sql(`
      with job as (
        insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
          docker_image, ssh_host, requirement_class, trigger_type, trigger_name, schedule_id, event_envelope, target_count, runner_given, starts)
        values (lpad('${n}', 16, '0'), 'f', 'flow', repeat('a', 64), '${JSON.stringify(params)}', 'normal', 'local', 'host',
          '', '', '', 'manual', '', '', '', 1, false, true) returning *
      ), run as (
        insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, started_at, completed_at)
        select gen_random_uuid(), id, 'f', 'local', 'completed', 't', 'w', now(), now() from job returning *
      ), scope as (
        insert into scopes (workspace, workflow_name, target, step, scope_hash)
        select 'w', 'f', 't', 's', text_hash('w', 'f', 'flow', 't', 's', params::text) from job returning id
      ), scan as (
        insert into scans (run_id, attempt, scope_id, kind, errors)
        select run.id, 1, scope.id, 'vulnerability', 0 from run, scope
      )
      insert into sightings (kind, record_id, scope_id, run_id, attempt)
      select 'vulnerability', ${n + 1}, scope.id, run.id, 1 from run, scope union all
      select 'vulnerability', 4, scope.id, run.id, 1 from run, scope`)

  expect((await migrate(database)).applied.length).toBeGreaterThan(0)

  const holders = await sql('select asset_value, holds from vulnerabilities order by id')
  expect(holders).toEqual([
    { asset_value: 'http://h', holds: false },
    { asset_value: 'http://h:80', holds: true },
    { asset_value: 'https://h:443', holds: true },
    { asset_value: 'http://h:81', holds: true },
  ])
  await sql(
    `select save_vulnerabilities('w', '${finding('http://h')}', null, 'api'), save_vulnerabilities('w', '${finding('h:443')}', null, 'api')`,
  )
  expect(await sql('select count(*)::int as n from vulnerabilities')).toEqual([{ n: 4 }])
  expect(
    await sql('select asset_type, asset_value, url, open_ports[1] as port from assets order by id'),
  ).toEqual([
    { asset_type: 'http', asset_value: 'h', url: 'http://h', port: '53' },
    { asset_type: 'port', asset_value: 'h:80', url: '', port: '53' },
    { asset_type: 'port', asset_value: 'h:53/udp', url: '', port: '53/udp' },
    { asset_type: 'port', asset_value: '[::1]:22', url: '', port: '53' },
  ])
  expect(
    await sql('select asset_hash = asset_hash(workspace, asset_value, url) as same from assets'),
  ).toEqual(Array.from({ length: 4 }, () => ({ same: true })))
  const scopes = await sql(`
    select array_agg(g.record_id::int order by g.record_id) as records, s.scope_hash = text_hash('w', 'f', 'flow', 't', 's', '{}') as bare
    from scopes s join sightings g on g.scope_id = s.id group by s.id order by s.id`)
  expect(scopes).toEqual([
    { records: [1, 2, 4], bare: true },
    { records: [3, 4], bare: false },
  ])
  expect(await sql('select count(distinct scope_id)::int as n from scans')).toEqual([{ n: 2 }])
})

test('a joined asset was seen by every scope that saw one of its records, and scanners keep the finding that they reported', async () => {
  await using own = await emptyDatabase()
  await migrateBefore(own.url)
  const ask = async (text: string) =>
    (await asSuperuser((client) => client.query<Record<string, unknown>>(text), own.url)).rows
  for (const items of [asset('http', 'h', 'http://h'), asset('http', 'h:80', 'http://h:80')])
    await ask(`select save_assets('w', '${items}', null, 'api')`)
  await ask(`update assets set first_seen = '2020-01-01', first_run = 1, last_run = 7 where id = 2`)
  await ask(
    `insert into sightings values ('asset', 1, 10, 5, 1), ('asset', 2, 10, 7, 1), ('asset', 2, 11, 6, 1)`,
  )
  await ask(
    `insert into observations values (5, 1, 'asset', 1, '{}'), (6, 1, 'asset', 2, '{}'), (7, 1, 'asset', 2, '{}')`,
  )
  await ask(`select save_vulnerabilities('w', '${finding('http://h:80')}', null, 'nuclei')`)
  // A record that was made by hand before the scanner reported the same.
  await ask(`
    insert into vulnerabilities (id, workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence,
      asset_type, asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json, finding_hash, holds, source)
    overriding system value
    select 0, workspace, vuln_info, 'by hand', '', '', severity, confidence, asset_type, asset_value, '{}', '', '', '',
      finding_hash, false, 'api' from vulnerabilities`)
  await migrate(own)
  expect(await ask('select record_id::int, scope_id::int, run_id::int from sightings order by 2')).toEqual([
    { record_id: 1, scope_id: 10, run_id: 7 },
    { record_id: 1, scope_id: 11, run_id: 6 },
  ])
  expect(await ask('select run_id::int, record_id::int from observations order by 1')).toEqual(
    [5, 6, 7].map((run_id) => ({ run_id, record_id: 1 })),
  )
  expect(
    await ask(
      `select id::int, extract(year from first_seen)::int as since, first_run::int, last_run::int from assets`,
    ),
  ).toEqual([{ id: 1, since: 2020, first_run: 1, last_run: 7 }])
  expect(await ask('select vuln_title, holds from vulnerabilities order by holds')).toEqual([
    { vuln_title: 'by hand', holds: false },
    { vuln_title: 'http://h:80', holds: true },
  ])
})
