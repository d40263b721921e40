import { describe, expect, test } from '@jest/globals'
import {
  INFRA_MOVES,
  INSTANCE_MOVES,
  PRIORITY_RANK,
  RUN_MOVES,
  STEP_MOVES,
  sources,
  type Priority,
  type RunStatus,
} from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import type pg from 'pg'
import { migrate, openRunStore, openStore, SchemaError, schemaVersion } from '../src/index.ts'
import { asSuperuser, emptyDatabase } from './database.ts'

const sourcesIn = (moves: Readonly<Record<string, readonly string[]>>, to: string): string[] =>
  Object.keys(moves)
    .filter((from) => moves[from]?.includes(to))
    .sort()

const database = forAllTests(emptyDatabase)
const inDatabase = <T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> =>
  asSuperuser(work, database.url)

const WAITING = `
  select from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`

describe('migrations', () => {
  test('A database that was never migrated is refused with instructions', async () => {
    await using store = await openStore({ url: database.url, poolSize: 1, applicationName: 'test' })
    await using worker = await openRunStore({ url: database.url, poolSize: 1, applicationName: 'test' })
    for (const ask of [() => store.check(), () => worker.farmId()]) {
      const error: unknown = await ask().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(SchemaError)
      expect(error).toMatchObject({
        found: undefined,
        message: expect.stringContaining('start a server, or run `scanfarm migrate`'),
      })
    }
  })

  test('Programs that start at once migrate the database once, and later ones find nothing to do', async () => {
    const all = await Promise.all([migrate(database), migrate(database), migrate(database)])
    const applied = all.map((one) => one.applied.length).sort()
    expect(applied.slice(0, 2)).toEqual([0, 0])
    expect(all.flatMap((one) => one.applied).at(-1)).toBe(schemaVersion)
    expect((await migrate(database)).applied).toEqual([])
    await using store = await openStore({ url: database.url, poolSize: 1, applicationName: 'test' })
    await store.check()
  })

  test('A program that saw an empty database reads it again after it has waited for another migration', async () => {
    await inDatabase((client) => client.query('alter table schema_files rename to hidden'))
    const { applied } = await inDatabase(async (client) => {
      await client.query("begin; select pg_advisory_xact_lock(hashtext('scanfarm migration'))")
      const migrated = migrate(database)
      await until(async () => (await client.query(WAITING)).rowCount === 1)
      await client.query('alter table hidden rename to schema_files; commit')
      return await migrated
    })
    expect(applied).toEqual([])
  })

  test('A database of a newer program is refused', async () => {
    await inDatabase((client) => client.query("insert into schema_files (name) values ('9999-future')"))
    await using store = await openStore({ url: database.url, poolSize: 1, applicationName: 'test' })
    await using worker = await openRunStore({ url: database.url, poolSize: 1, applicationName: 'test' })
    const message = `migrated by a newer Scanfarm: its schema is 9999-future, this program knows ${schemaVersion}`
    await expect(store.check()).rejects.toThrow(message)
    await expect(worker.farmId()).rejects.toThrow(message)
    await expect(migrate(database)).rejects.toThrow(
      /knows [\w-]+\. Install that newer version, or restore a backup/,
    )
    await inDatabase((client) =>
      client.query(`insert into workers (id, name, hostname, pid, version, kind, slots, capabilities, lease_until, lease_ms)
        values ('w', 'w', 'h', 1, '9.9.0', 'worker', 1, '{}', now(), 20000)`),
    )
    await expect(migrate(database)).rejects.toThrow('; version 9.9.0 joined the farm last. Install')
    await inDatabase((client) => client.query('delete from workers'))
    await inDatabase((client) => client.query("delete from schema_files where name = '9999-future'"))
  })

  test('A database that is older than the first upgrade says which commit upgrades it', async () => {
    await using earlier = await emptyDatabase()
    const refusal = (found: string) =>
      `the schema of the database is ${found}, this program upgrades from 0045-page-hashes on: first run \`scanfarm migrate\` of the commit `
    await earlier.sql('create table kysely_migration (name text)')
    await expect(migrate(earlier)).rejects.toThrow(refusal('that of an unreleased Scanfarm'))
    await earlier.sql(`drop table kysely_migration;
          create table schema_files (name text collate "C" primary key, applied_at timestamptz not null default now());
          create table schema_functions (name text collate "C" primary key, hash text not null);
          insert into schema_files (name) values ('0001-cloud'), ('0044-twins-by-target')`)
    await expect(migrate(earlier)).rejects.toThrow(refusal('0044-twins-by-target'))
  })
})

describe('rules that SQL and contracts share', () => {
  test.each(Object.keys(RUN_MOVES) as RunStatus[])(
    'A run moves to %s from the same statuses in both',
    async (to) => {
      const { rows } = await inDatabase((client) =>
        client.query<{ from: string[] }>('select run_sources($1) as from', [to]),
      )
      expect(rows[0]?.from.sort()).toEqual(sources(to).sort())
    },
  )

  test.each(Object.entries(PRIORITY_RANK))(
    'The priority %s has the rank %i in both',
    async (priority, rank) => {
      const { rows } = await inDatabase((client) =>
        client.query<{ rank: number }>('select priority_rank($1) as rank', [priority]),
      )
      expect(rows[0]?.rank).toBe(rank)
      expect(PRIORITY_RANK[priority as Priority]).toBeGreaterThan(0)
    },
  )

  test.each(Object.keys(INFRA_MOVES))(
    'An infrastructure moves to %s from the same statuses in both',
    async (to) => {
      const { rows } = await inDatabase((client) =>
        client.query<{ from: string[] }>('select infra_sources($1) as from', [to]),
      )
      expect(rows[0]?.from.sort()).toEqual(sourcesIn(INFRA_MOVES, to))
    },
  )

  test.each(Object.keys(INSTANCE_MOVES))(
    'A machine moves to %s from the same statuses in both',
    async (to) => {
      const { rows } = await inDatabase((client) =>
        client.query<{ from: string[] }>('select instance_sources($1) as from', [to]),
      )
      expect(rows[0]?.from.sort()).toEqual(sourcesIn(INSTANCE_MOVES, to))
    },
  )

  test.each([
    ['cloud_infras_status_check', Object.keys(INFRA_MOVES)],
    ['cloud_instances_status_check', Object.keys(INSTANCE_MOVES)],
    ['runs_status_check', Object.keys(RUN_MOVES)],
    ['steps_status_check', Object.keys(STEP_MOVES)],
  ])('The constraint %s lists every status and no other', async (constraint, statuses) => {
    const { rows } = await inDatabase((client) =>
      client.query<{ definition: string }>(
        'select pg_get_constraintdef(oid) as definition from pg_constraint where conname = $1 limit 1',
        [constraint],
      ),
    )
    const listed = [...(rows[0]?.definition ?? '').matchAll(/'(\w+)'/g)].map((match) => match[1])
    expect(listed.sort()).toEqual([...statuses].sort())
  })

  test('No index of runs contains a column that changes while a run is running', async () => {
    const { rows } = await inDatabase((client) =>
      client.query<{ attname: string }>(
        `select distinct a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid
         and a.attnum = any(i.indkey) where i.indrelid = 'runs'::regclass`,
      ),
    )
    const indexed = rows.map((row) => row.attname)
    for (const column of ['updated_at', 'completed_at', 'current_pid', 'completed_steps', 'total_steps']) {
      expect(indexed).not.toContain(column)
    }
  })

  test('Progress updates of a run stay inside their page', async () => {
    const { rows } = await inDatabase(async (client) => {
      await client.query(`insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace,
        worker_id, attempt, started_at)
        select gen_random_uuid(), 0, 'w', 'cloud', 'running', 't', 't', 'w', 1, now() from generate_series(1, 20)`)
      await client.query(
        'update runs set current_pid = 7, total_steps = 3, completed_steps = 1, updated_at = now()',
      )
      await client.query('select pg_stat_force_next_flush()')
      const found = await client.query<{ hot: string }>(
        "select n_tup_hot_upd::text as hot from pg_stat_user_tables where relname = 'runs'",
      )
      await client.query('delete from runs')
      return found
    })
    expect(rows[0]?.hot).toBe('20')
  })
})

describe('partitions', () => {
  test('Partitions are created ahead of the rows, each of them once', async () => {
    await using store = await openStore({ url: database.url, poolSize: 2, applicationName: 'test' })
    await Promise.all([store.maintain(), store.maintain()])
    await inDatabase((client) => client.query("select setval('runs_id_seq', 4999999)"))
    await Promise.all([store.maintain(), store.maintain()])
    const { rows } = await inDatabase((client) =>
      client.query<{ name: string }>(
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'steps'::regclass order by inhrelid",
      ),
    )
    expect(rows.map((row) => row.name)).toEqual(['steps_rest', 'steps_4000000', 'steps_5000000'])
  })

  test('Steps beyond the last partition are kept, and move into their partition when it is created', async () => {
    await using store = await openStore({ url: database.url, poolSize: 2, applicationName: 'test' })
    const insert = `insert into steps (run_id, attempt, seq, id, name, type, module, status, command, output,
      error_message, exports, duration_ms, log_file) values (9000001, 1, 1, gen_random_uuid(), 's', 'bash', '', 'running',
      '', '', '', '{}', 0, '')`
    const where = (client: pg.ClientBase) =>
      client.query<{ name: string }>(
        'select tableoid::regclass::text as name from steps where run_id = 9000001',
      )
    await inDatabase((client) => client.query(insert))
    expect((await inDatabase(where)).rows).toEqual([{ name: 'steps_rest' }])
    await inDatabase((client) => client.query("select setval('runs_id_seq', 9000001)"))
    await store.maintain()
    expect((await inDatabase(where)).rows).toEqual([{ name: 'steps_9000000' }])
    await expect(inDatabase((client) => client.query(insert))).rejects.toThrow('duplicate key')
  })

  test('Events beyond the last partition move into their partition when it is created', async () => {
    await using store = await openStore({ url: database.url, poolSize: 2, applicationName: 'test' })
    const events = () =>
      inDatabase((client) =>
        client.query<{ name: string }>('select tableoid::regclass::text as name from event_logs order by id'),
      )
    await inDatabase(async (client) => {
      await client.query("select setval('event_logs_id_seq', 25000000)")
      await client.query(`insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id,
        workflow_name, processed, processed_at) values ('custom.x', 'e', '', 'api', 'custom', '{}', '', '', '', true, now())`)
    })
    expect((await events()).rows).toEqual([{ name: 'event_logs_rest' }])
    await store.maintain()
    expect((await events()).rows).toEqual([{ name: 'event_logs_25000000' }])
    expect((await store.events.list({}, { offset: 0, limit: 1 })).data[0]?.id).toBe(25000001)
  })
})
