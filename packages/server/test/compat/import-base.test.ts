import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { artifactOptions, openArtifactStore } from '@scanfarm/artifacts'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { asSuperuser, emptyDatabase, testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { BASE_PARTS, importBase, type BasePart, type BaseReport } from '../../src/operations/index.ts'
import { insert, makeBaseFolder, openBaseDatabase, run, RUN_UUID, write } from './_base-folder.ts'
import { SETTINGS, type Config } from '../../src/settings.ts'

let database: TestDatabase
let root: string
let base: string
let config: Config
let first: BaseReport

const imported = (
  folder = base,
  dryRun = false,
  parts: readonly BasePart[] = BASE_PARTS,
): Promise<BaseReport> => importBase(config, silentLogger, { folder, parts: [...parts], dryRun })

const counts = ({ parts }: BaseReport): Record<string, number[]> =>
  Object.fromEntries(
    parts.map(({ part, found, added, known, left_out }) => [part, [found, added, known, left_out]]),
  )

const page = { offset: 0, limit: 100 }

beforeAll(async () => {
  database = await testDatabase()
  root = mkdtempSync(join(tmpdir(), 'import-base-'))
  base = join(root, 'base')
  makeBaseFolder(base)
  config = readConfig(SETTINGS, {
    env: { DATABASE_URL: database.url, SCANFARM_DATA_DIR: join(root, 'data') },
  })
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

test('a dry run counts what would be imported and writes nothing', async () => {
  const report = await imported(base, true)
  expect(counts(report)).toEqual({
    workflows: [3, 3, 0, 0],
    runs: [3, 2, 0, 1],
    steps: [1, 1, 0, 0],
    schedules: [1, 0, 0, 1],
    assets: [1, 1, 0, 0],
    vulnerabilities: [2, 2, 0, 0],
    files: [4, 4, 0, 0],
  })
  expect((await database.store.runs.list({}, page)).total).toBe(0)
  expect(existsSync(join(root, 'data', 'workflows'))).toBe(false)
})

describe('an import of a base folder', () => {
  beforeAll(async () => {
    await database.store.triggers.wantTopics(['vuln.found', 'asset.discovered', 'step.completed'])
    first = await imported()
  })

  test('the import adds runs with their steps unchanged', async () => {
    const found = await database.store.runs.find(RUN_UUID)
    expect(found).toMatchObject({
      workflow_name: 'probe',
      target: 'example.com',
      status: 'completed',
      workspace: 'example.com',
      params: { threads: '5', mode: 'fast' },
      priority: 'high',
      total_steps: 1,
      completed_steps: 1,
      created_at: '2026-03-01T10:00:00.500Z',
      completed_at: '2026-03-01T10:05:00.000Z',
    })
    const steps = await database.store.runs.steps(RUN_UUID)
    expect(steps?.data).toMatchObject([
      { step_name: 'one', status: 'completed', output: 'example.com', exports: { n: '1' } },
    ])
  })

  test('the import groups the runs of one request and skips runs that have not ended', async () => {
    const all = (await database.store.runs.list({}, page)).data
    const probes = all.filter(({ workflow_name }) => workflow_name === 'probe')
    expect(probes.map(({ status }) => status).sort()).toEqual(['completed', 'failed'])
    const [job, ...others] = new Set(probes.map(({ run_group_id }) => run_group_id))
    expect(others).toEqual([])
    expect(await database.store.jobs.status(job ?? '')).toMatchObject({
      total_runs: 2,
      completed: 1,
      failed: 1,
    })
    expect(first.parts.find(({ part }) => part === 'runs')?.notes).toEqual([
      'run still-going of probe is running: import again after it has ended',
    ])
  })

  test('copies of imported runs execute the workflow of the base folder', async () => {
    const copy = await database.store.runs.duplicate(RUN_UUID)
    expect(copy).toBeDefined()
    const json = await asSuperuser(async (client) => {
      const { rows } = await client.query<{ json: string }>(
        'select p.json from runs r join jobs j on j.id = r.job_no join pinned_workflows p on p.hash = j.workflow_hash where r.run_uuid = $1',
        [RUN_UUID],
      )
      return rows[0]?.json ?? ''
    }, database.url)
    expect(JSON.parse(json)).toMatchObject({ root: { steps: [{ command: 'echo {{Target}}' }] } })
  })

  test('the import adds findings and assets with the times at which they were seen', async () => {
    const { data } = await database.store.vulnerabilities.list({}, page)
    expect(data).toHaveLength(2)
    expect(data.find(({ vuln_info }) => vuln_info === 'CVE-2024-1')).toMatchObject({
      severity: 'high',
      confidence: 'Firm',
      tags: ['cve'],
      first_seen: '2026-03-01T10:00:00.500Z',
      source: 'import-base',
    })
    const assets = await database.store.assets.list({}, page)
    expect(assets.data).toMatchObject([
      { asset_value: 'a.example.com', technologies: ['nginx'], last_seen: '2026-03-01T10:05:00.000Z' },
    ])
  })

  test('the import emits no events', async () => {
    expect((await database.store.events.list({}, page)).total).toBe(0)
  })

  test('the import stores the files of a workspace as artifacts of its newest run', async () => {
    const artifacts = (await database.store.runs.artifacts(RUN_UUID))?.data ?? []
    expect(
      artifacts.map(({ name, artifact_type, artifact_path }) => [name, artifact_type, artifact_path]).sort(),
    ).toEqual([
      ['final report', 'report', 'report.md'],
      ['list.txt', 'output', 'subdomain/list.txt'],
      ['run-state.json', 'state_file', 'run-state.json'],
    ])
    const list = artifacts.find(({ name }) => name === 'list.txt')
    expect(list).toMatchObject({ size_bytes: 28, line_count: 2 })
    const row = await database.store.runs.artifact(RUN_UUID, list?.id ?? '')
    await using store = openArtifactStore(artifactOptions(config.artifacts))
    const content = await store.get(row?.store_key ?? '')
    expect(String(content && (await buffer(content.body)))).toBe('a.example.com\nb.example.com\n')
  })

  test('the import creates a run for the files of a workspace without runs', async () => {
    const [keeper] = (await database.store.runs.list({ workflowName: 'import-base' }, page)).data
    expect(keeper?.workspace).toMatch(/^no_runs-[0-9a-f]{12}$/)
    expect((await database.store.runs.artifacts(keeper?.run_uuid ?? ''))?.data).toMatchObject([
      { name: 'found.txt' },
    ])
  })

  test('the import copies workflows to the same paths and reports those that cannot run', async () => {
    const folder = join(root, 'data', 'workflows')
    expect(readFileSync(join(folder, 'flows', 'survey.yaml'), 'utf8')).toMatch(/name: survey/)
    const notes = first.parts.find(({ part }) => part === 'workflows')?.notes ?? []
    expect(notes).toHaveLength(1)
    expect(notes[0]).toMatch(/^modules\/broken\.yaml was copied but cannot run: /)
  })

  test('a repeated import changes nothing', async () => {
    const again = await imported()
    expect(counts(again)).toEqual({
      workflows: [3, 0, 3, 0],
      runs: [3, 0, 2, 1],
      steps: [1, 0, 1, 0],
      schedules: [1, 0, 0, 1],
      assets: [1, 0, 1, 0],
      vulnerabilities: [2, 0, 2, 0],
      files: [4, 0, 4, 0],
    })
  })

  test('a repeated import keeps a workflow that was changed locally and adds new records', async () => {
    const mine = join(root, 'data', 'workflows', 'modules', 'probe.yaml')
    writeFileSync(mine, 'kind: module\nname: probe\nsteps: []\n')
    const db = new DatabaseSync(join(base, 'database-osm.sqlite'))
    db.exec("update runs set status = 'completed', completed_at = '2026-03-02 00:00:00+00:00' where id = 3")
    db.close()
    const report = await imported()
    expect(counts(report)).toMatchObject({ workflows: [3, 0, 2, 1], runs: [3, 1, 2, 0] })
    expect(readFileSync(mine, 'utf8')).toMatch(/steps: \[\]/)
  })
})

describe('settings of a base folder', () => {
  test('settings are converted, or reported with the reason', async () => {
    const { settings, settings_yaml } = await imported(base, true, ['settings'])
    const became = Object.fromEntries(settings.map(({ key, setting }) => [key, setting]))
    expect(became).toMatchObject({
      'server.port': 'http.port',
      'server.auth_api_key': 'auth.initial_token',
      'server.cors_allowed_origins': '',
      global_vars: 'workflows.variables',
      base_folder: 'folders.base',
    })
    const file = join(root, 'scanfarm.yaml')
    writeFileSync(file, settings_yaml, { mode: 0o600 })
    const carried = readConfig(SETTINGS, { env: {}, configPath: file })
    expect(carried.http.port).toBe(9000)
    expect(carried.llm.url?.reveal()).toBe('http://:t@127.0.0.1:9/v1?model=m')
  })
})

describe('settings that are not converted directly', () => {
  const carried = async (name: string, yaml: string) => {
    const folder = join(root, name)
    write(folder, { 'osm-settings.yaml': yaml })
    const { settings, settings_yaml } = await imported(folder, true, ['settings'])
    const file = join(folder, 'scanfarm.yaml')
    writeFileSync(file, settings_yaml, { mode: 0o600 })
    return { settings, config: readConfig(SETTINGS, { env: {}, configPath: file }) }
  }

  test('disabled settings stay disabled', async () => {
    const off = await carried(
      'off',
      `server: {port: 9000}
notification: {enabled: false, telegram: {enabled: true, bot_token: "1:a", chat_id: 5}, webhooks: [{url: "http://a.test/", enabled: true}]}
storage: {enabled: false, bucket: b, region: eu-1}
`,
    )
    expect(off.config.notify).toMatchObject({ telegram: undefined, webhooks: [] })
    expect(off.config.storage.s3).toBeUndefined()
    expect(off.settings).toContainEqual({
      key: 'notification.telegram.bot_token',
      setting: '',
      note: 'disabled in Osmedeus (notification.enabled)',
    })
    const on = await carried(
      'on',
      `notification:
  enabled: true
  telegram: {enabled: true, bot_token: "1:a", chat_id: 5, telegram_channel_map: {alerts: -7}}
  webhooks: [{url: "http://a.test/", enabled: true}, {url: "http://b.test/", enabled: false}]
storage: {enabled: true, endpoint: "s3.test:9000", use_ssl: false, bucket: b, access_key_id: k, secret_access_key: a/b, region: eu-1}
`,
    )
    expect(on.config.notify.telegram?.reveal()).toBe('telegram://1:a@5?alerts=-7')
    expect(on.config.notify.webhooks.map(String)).toEqual(['http://a.test/'])
    expect(on.config.storage.s3?.reveal()).toBe(
      's3://k:a%2Fb@b?region=eu-1&endpoint=http%3A%2F%2Fs3.test%3A9000',
    )
  })

  test('a variable that is forbidden for commands is reported, and a value is never read as a file name', async () => {
    const { settings, config: read } = await carried(
      'vars',
      'global_vars: {PATH: {value: /evil}, my-var: {value: a}, AT: {value: "@/etc/passwd"}}\n',
    )
    expect(read.runner.env.map(({ name, value, from }) => [name, value?.reveal(), from])).toEqual([
      ['AT', '@/etc/passwd', 'settings'],
    ])
    expect(settings[0]?.note).toMatch(/without PATH: set runner\.path.*; my-var: names are of letters/)
  })

  test('the base folder is where it is, and settings with the same reason share a line', async () => {
    const { settings, config: read } = await carried(
      'folders',
      `base_folder: $HOME/elsewhere
environments: {external_data: $HOME/data, snapshot: "{{base_folder}}/snap", external_agent_configs: /agents}
database: {db_engine: sqlite, host: a, port: 1}
`,
    )
    expect(read.folders.base).toBe(join(root, 'folders'))
    expect(settings.map(({ key }) => key).toSorted()).toEqual(['base_folder', 'database.*', 'environments.*'])
  })
})

test('unreadable files are reported and do not stop the import', async () => {
  const folder = join(root, 'odd-files')
  write(folder, {
    'osm-settings.yaml': 'server: {port: 9000}\n',
    'workspaces/a/日本 x.txt': 'x\n',
    'workspaces/a/sub/y.txt': 'y\n',
    'workspaces/top.txt': 'x\n',
  })
  const at = (name: string): string => join(folder, 'workspaces', name)
  writeFileSync(Buffer.concat([Buffer.from(at('a/bad')), Buffer.from([0xff])]), 'x')
  symlinkSync('/etc/passwd', at('a/passwd'))
  symlinkSync('/etc', at('linked'))
  const report = await imported(folder, false, ['files'])
  expect(counts(report)).toEqual({ files: [6, 2, 0, 4] })
  expect(report.parts[0]?.notes.toSorted()).toEqual([
    expect.stringMatching(/^a\/bad.: it was deleted, or its name is not UTF-8$/),
    'a/passwd: it is a symbolic link',
    'linked: it is a symbolic link: set the folder above its target with --workspaces',
    'top.txt: it is not in a workspace',
  ])
})

describe('invalid input', () => {
  test('a folder that is not a base folder is refused', async () => {
    const empty = join(root, 'empty')
    write(empty, { 'a.txt': '' })
    await expect(imported(empty)).rejects.toThrow(
      /is not a base folder: it contains neither osm-settings\.yaml/,
    )
    await expect(imported(join(root, 'nowhere'))).rejects.toThrow(/nowhere is not a folder/)
  })

  test('a file that is not a database is refused', async () => {
    const odd = join(root, 'odd')
    write(odd, {
      'database-osm.sqlite': 'this is no database, but a text that is long enough',
      'workflows/a.txt': '',
    })
    await expect(imported(odd)).rejects.toThrow(
      /odd\/database-osm\.sqlite, cannot be read: file is not a database\. use `--only settings,workflows,files` to import without it/,
    )
    expect(counts(await imported(odd, false, ['workflows', 'files']))).toMatchObject({ files: [0, 0, 0, 0] })
  })

  test('settings that are not a map and a workspaces folder that does not exist are refused', async () => {
    const list = join(root, 'list')
    write(list, { 'osm-settings.yaml': '- a\n- b\n' })
    await expect(imported(list)).rejects.toThrow(/osm-settings\.yaml cannot be read: it must be a map/)
    await expect(
      importBase(config, silentLogger, {
        folder: base,
        workspaces: join(root, 'away'),
        parts: ['files'],
        dryRun: true,
      }),
    ).rejects.toThrow(
      /away is not a folder: --workspaces must be the folder that contains one folder for each workspace/,
    )
  })
})

test('times without a zone are read as UTC in any local time zone', () => {
  const times = ['2026-03-01 10:00:00', '2026-03-01 10:00:00.5+00:00', '2026-03-01T10:00:00+02:00', 'soon']
  const values = JSON.stringify(new URL('../../src/compat/import-base/values.ts', import.meta.url).href)
  const script = `import { timeOf } from ${values}
    console.log(JSON.stringify(${JSON.stringify(times)}.map((at) => timeOf({ at }, 'at') ?? '')))`
  const told = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { TZ: 'Asia/Tokyo' },
    encoding: 'utf8',
  })
  expect(JSON.parse(told)).toEqual([
    '2026-03-01T10:00:00.000Z',
    '2026-03-01T10:00:00.500Z',
    '2026-03-01T08:00:00.000Z',
    '',
  ])
})

test('the records of a base folder with a Postgres database are imported', async () => {
  await using source = await emptyDatabase()
  await asSuperuser(async (client) => {
    await client.query(`create table runs (id bigserial primary key, run_uuid text, workflow_name text, workflow_kind text,
      target text, params json, status text, workspace text, started_at timestamptz, completed_at timestamptz,
      created_at timestamptz, updated_at timestamptz)`)
    await client.query(`insert into runs (run_uuid, workflow_name, workflow_kind, target, params, status, workspace, created_at, completed_at)
      select 'pg-' || n, 'probe', 'module', 't' || n, '{"a": "b"}', 'completed', 'pg', now(), now() from generate_series(1, 1200) n`)
  }, source.url)
  const url = new URL(source.url)
  const folder = join(root, 'pg')
  write(folder, {
    'osm-settings.yaml': `database: {db_engine: postgresql, host: ${url.hostname}, port: ${url.port}, username: ${url.username}, password: "${decodeURIComponent(url.password)}", db_name: ${url.pathname.slice(1)}}\n`,
  })
  expect(counts(await imported(folder, false, ['runs']))).toMatchObject({ runs: [1200, 1200, 0, 0] })
  expect((await database.store.runs.list({ workspace: 'pg' }, page)).total).toBe(1200)
})

test('many runs of many requests are imported', async () => {
  const folder = join(root, 'many')
  write(folder, { 'workflows/none.txt': '' })
  const db = openBaseDatabase(folder)
  db.exec('begin')
  for (let id = 1; id <= 3000; id++)
    insert(db, 'runs', run(id, { run_uuid: `many-${id}`, run_group_id: `g${id % 7}`, workspace: 'many' }))
  db.exec('commit')
  db.close()
  expect(counts(await imported(folder, false, ['runs']))).toMatchObject({ runs: [3000, 3000, 0, 0] })
})
