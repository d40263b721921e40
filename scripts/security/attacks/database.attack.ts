import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { farm } from '../farm/attacked-farm.ts'

const LOGIN = `scanfarm_attacker_${randomBytes(4).toString('hex')}`
const SECRET = randomBytes(32).toString('hex')
const ME = {
  id: LOGIN,
  name: 'w',
  hostname: 'h',
  pid: 1,
  version: '1',
  slots: 1,
  capabilities: [],
  lease_ms: 60_000,
}

let admin: pg.Client
let attacker: pg.Client
beforeAll(async () => {
  admin = new pg.Client({ connectionString: farm.databaseUrl })
  await admin.connect()
  await admin.query(`create role ${LOGIN} login password 'secret' in role scanfarm_worker`)
  const url = new URL(farm.databaseUrl)
  url.username = LOGIN
  url.password = 'secret'
  attacker = new pg.Client({ connectionString: url.href })
  await attacker.connect()
  await attacker.query('select worker.join($1, $2)', [SECRET, JSON.stringify(ME)])
})
afterAll(async () => {
  await attacker.query('select worker.leave($1, $2)', [SECRET, LOGIN])
  await attacker.end()
  await admin.query(`drop role ${LOGIN}`)
  await admin.end()
})

const STATE = `
  select (select json_agg(json_build_array(id, status, attempt, worker_id) order by id) from runs) as runs,
         (select json_agg(json_build_array(id, kind, capabilities, secret_hash is null) order by id) from workers
          where id <> $1) as workers`
const state = async (): Promise<unknown> => (await admin.query(STATE, [LOGIN])).rows[0]

/** A value of the type for each parameter that names something of another process. */
const valuesOf = (type: string, ids: { readonly workers: string[]; readonly runs: string[] }): string[] =>
  ({
    text: [...ids.workers.map((id) => `'${id}'`), "''"],
    bigint: ids.runs,
    integer: ['0', '1'],
    boolean: ['true'],
    uuid: ['null'],
    jsonb: ids.runs
      .slice(0, 9)
      .map(
        (id) =>
          `'[{"runId": ${id}, "attempt": 1, "status": "failed", "errorMessage": "", "killedPids": []}]'`,
      ),
    'text[]': ["'{}'"],
    'bigint[]': ids.runs.slice(0, 9).map((id) => `'{${id}}'`),
    'integer[]': ["'{0}'"],
    'uuid[]': ["'{}'"],
    'boolean[]': ["'{}'"],
  })[type] ?? ['null']

/** Each parameter takes each of its values once, the others their first one. */
const callsOf = (lists: readonly string[][]): string[] =>
  lists.flatMap((list, at) =>
    list.map((value) =>
      lists.map((other, place) => (place === at ? value : (other[0] ?? 'null'))).join(', '),
    ),
  )

test('No function changes runs or workers of other processes, with any secret that the attacker can make up', async () => {
  const ids = await admin.query<{ workers: string[]; runs: string[] }>(
    `select coalesce((select array_agg(id) from workers where id <> $1), '{}') as workers,
            coalesce((select array_agg(id::text) from (select id from runs where status <> 'queued' order by id desc limit 40) r),
                     '{}') as runs`,
    [LOGIN],
  )
  const known = ids.rows[0] ?? { workers: [], runs: [] }
  const { rows: functions } = await admin.query<{ name: string; types: string[] }>(
    `select oid::regproc::text as name, array(select format_type(t, null) from unnest(proargtypes) t) as types
     from pg_proc where pronamespace = 'worker'::regnamespace and proname not in ('join', 'farm')`,
  )
  const before = await state()
  let tries = 0
  for (const { name, types } of functions)
    for (const secret of [SECRET, '', 'x'.repeat(43)])
      for (const rest of callsOf(types.slice(1).map((type) => valuesOf(type, known)))) {
        const [first] = rest.split(', ')
        if (first === `'${LOGIN}'`) continue
        await attacker.query(`select ${name}('${secret}', ${rest})`).catch(() => undefined)
        tries += 1
      }
  expect(tries).toBeGreaterThan(100)
  expect(await state()).toEqual(before)
})

test('No table and no function of masters is open to the login of a worker', async () => {
  const { rows } = await admin.query<{ call: string }>(
    `select format('select 1 from %s', oid::regclass) as call from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S')
     union all
     select format('select %s(%s)', oid::regproc,
       array_to_string(array(select 'null::' || format_type(t, null) from unnest(proargtypes) t), ', '))
     from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f' and provariadic = 0 and prorettype <> 'trigger'::regtype`,
  )
  const open: string[] = []
  for (const { call } of rows)
    await attacker.query(call).then(
      () => open.push(call),
      (error: Error) =>
        error.message.startsWith('permission denied') || open.push(`${call}: ${error.message}`),
    )
  expect(rows.length).toBeGreaterThan(100)
  expect(open).toEqual([])
})
