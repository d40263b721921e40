import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { migrate, schemaVersion } from '../src/index.ts'
import { SCHEMA_FILES } from '../src/schema-version.ts'
import { emptyDatabase } from './database.ts'

const SQL = join(import.meta.dirname, '../sql')

const database = forAllTests(emptyDatabase)
beforeAll(async () => {
  await migrate(database)
})

const ask = async <T extends object>(text: string): Promise<T[]> => (await database.sql<T>(text)).rows

interface FunctionRow {
  name: string
  signature: string
}
const functions = (): Promise<FunctionRow[]> =>
  ask<FunctionRow>(`
    select case when pronamespace = 'worker'::regnamespace then 'worker.' else '' end || proname as name,
           oid::regprocedure::text as signature
    from pg_proc where pronamespace in ('public'::regnamespace, 'worker'::regnamespace) order by 1`)

const files = async (): Promise<Map<string, string>> => {
  const paths = (await readdir(join(SQL, 'functions'), { recursive: true })).filter((path) =>
    path.endsWith('.sql'),
  )
  const texts = await Promise.all(paths.map((path) => readFile(join(SQL, 'functions', path), 'utf8')))
  const named = paths.map((path) => `${path.startsWith('worker/') ? 'worker.' : ''}${basename(path, '.sql')}`)
  return new Map(named.map((name, n) => [name, texts[n] ?? '']))
}

describe('the folder of functions', () => {
  test('Each function has one file with its name', async () => {
    expect((await functions()).map(({ name }) => name).sort()).toEqual([...(await files()).keys()].sort())
    for (const text of (await files()).values())
      expect(text).toMatch(/^-- [^]+?\ncreate or replace function /)
  })

  test('Postgres computes the identities of records within the statement that imports them', async () => {
    const plan = await ask(`
      explain (verbose, costs off)
      select asset_hash(workspace, asset_value, url), finding_hash(workspace, asset_type, title, asset_value, asset_type, url)
      from assets`)
    expect(JSON.stringify(plan)).not.toMatch(/(?:asset|finding)_hash\(/)
  })

  test('Planner settings have names', async () => {
    for (const text of (await files()).values())
      expect(text).not.toMatch(/\bset (?:enable_|jit|plan_cache_mode)/)
    const known = (await readFile(join(SQL, 'README.md'), 'utf8')).matchAll(/^\| `(\w+)` \|/gm)
    const configured = await ask<{ settings: string[] }>(
      `select proconfig as settings from pg_proc where pronamespace = 'public'::regnamespace and proconfig is not null`,
    )
    const sets = configured.map(({ settings }) =>
      settings.filter((one) => /^(?:enable_|jit|plan)/.test(one)).join(),
    )
    expect(new Set(sets.filter((one) => one !== '')).size).toBe([...known].length)
  })

  test('Postgres can compile every function', async () => {
    await ask(`
      set check_function_bodies = on;
      do $$
      declare
        v_validator text;
        v_oid oid;
      begin
        for v_validator, v_oid in
          select l.lanvalidator::regproc::text, p.oid from pg_proc p join pg_language l on l.oid = p.prolang
          where p.pronamespace in ('public'::regnamespace, 'worker'::regnamespace)
        loop
          execute format('select %s(%s)', v_validator, v_oid);
        end loop;
      end $$`)
  })
})

test('Every schema file is listed, in order', async () => {
  const found = (await readdir(join(SQL, 'schema'))).map((path) => path.replace('.sql', '')).sort()
  expect(SCHEMA_FILES).toEqual(found)
  expect(schemaVersion).toBe(found.at(-1))
})

describe('a migration', () => {
  const signaturesOf = async (name: string) =>
    (await functions()).filter((one) => one.name === name).map(({ signature }) => signature)

  test('A migration replaces a function whose text has changed, and restores its grants', async () => {
    await ask(`
      create or replace function worker.leave(p_worker_id text) returns void language sql as 'select';
      grant execute on function worker.leave(text) to public;
      update schema_functions set hash = 'of another text' where name = 'worker.leave'`)
    expect((await migrate(database)).applied).toEqual(['worker.leave'])
    const [row] = await ask<{ source: string; public: boolean }>(`
      select prosrc as source, coalesce(bool_or(grantee = 0), false) as public
      from pg_proc, aclexplode(proacl) where oid = 'worker.leave'::regproc group by 1`)
    expect(row).toEqual({ source: expect.stringContaining('release_runs'), public: false })
  })

  test.each([
    ['arguments', 'mark_infra_due(p_infra_no bigint, p_why text) returns void'],
    ['result', 'mark_infra_due(p_infra_no bigint) returns bigint'],
    ['names of arguments', 'mark_infra_due(p_other bigint) returns void'],
  ])('A migration drops and creates a function whose %s changed', async (_what, signature) => {
    await ask(`
      drop function mark_infra_due;
      create function ${signature} language plpgsql as 'begin end';
      update schema_functions set hash = 'of another text' where name = 'mark_infra_due'`)
    expect((await migrate(database)).applied).toEqual(['mark_infra_due'])
    expect(await signaturesOf('mark_infra_due')).toEqual(['mark_infra_due(bigint)'])
  })

  test('A migration drops a function without a file', async () => {
    await ask(`
      create function left_over() returns void language sql as 'select';
      insert into schema_functions values ('left_over', 'hash')`)
    expect((await migrate(database)).applied).toEqual(['left_over'])
    expect(await signaturesOf('left_over')).toEqual([])
  })

  test('A migration that fails changes nothing', async () => {
    await ask(`
      create function blocked() returns int language sql immutable as 'select 1';
      create table blocks (n int default blocked());
      insert into schema_functions values ('blocked', 'hash');
      update schema_functions set hash = 'of another text' where name = 'worker.leave'`)
    await expect(migrate(database)).rejects.toThrow('the database could not be migrated')
    expect(await ask(`select from schema_functions where hash = 'of another text'`)).toHaveLength(1)
    await ask(`drop table blocks`)
    expect((await migrate(database)).applied).toEqual(['worker.leave', 'blocked'])
  })

  test('A migration of an up-to-date database applies nothing', async () => {
    const before = await ask(`select oid::int, xmin::text from pg_proc where proname = 'end_runs'`)
    expect((await migrate(database)).applied).toEqual([])
    expect(await ask(`select oid::int, xmin::text from pg_proc where proname = 'end_runs'`)).toEqual(before)
  })
})
