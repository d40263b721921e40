import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { asSuperuser, testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { readSubjects, type Table } from './database-diagram.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const ask = async <T extends object>(text: string): Promise<T[]> =>
  (await asSuperuser((client) => client.query<T>(text), database.url)).rows

const tables = async (): Promise<Table[]> =>
  (await readSubjects()).flatMap((subject) => [...subject.tables.values()])

test('the diagram and the types have the columns of the database', async () => {
  const found = await ask<{ column: string }>(`
    select concat_ws(' ', format('%s.%s', c.relname, a.attname), case when not a.attnotnull then 'null' end,
      case when a.attidentity = 'a' or a.attgenerated <> '' then 'always' when a.atthasdef then 'default' end) as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and c.relname not in ('schema_files', 'schema_functions')`)
  const drawn = (await tables()).flatMap(({ name, columns }) =>
    [...columns].map(([column, { nullable, filled }]) =>
      [`${name}.${column}`, ...(nullable ? ['null'] : []), ...(filled === undefined ? [] : [filled])].join(
        ' ',
      ),
    ),
  )
  expect(drawn.sort()).toEqual(found.map(({ column }) => column).sort())
})

test('solid lines are the foreign keys, and dotted ones name existing tables', async () => {
  const found = await ask<{ key: string }>(`
    select format('%s.%s %s', conrelid::regclass, a.attname, confrelid::regclass) as key
    from pg_constraint join pg_attribute a on a.attrelid = conrelid and a.attnum = conkey[1]
    where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`)
  const all = await tables()
  const references = all.flatMap((table) =>
    table.references.map((reference) => ({ from: table.name, ...reference })),
  )
  const solid = references.filter(({ enforced }) => enforced)
  expect(solid.map(({ from, column, table }) => `${from}.${column} ${table}`).sort()).toEqual(
    found.map(({ key }) => key).sort(),
  )
  const names = new Set(all.map(({ name }) => name))
  expect(references.filter(({ table }) => !names.has(table))).toEqual([])
})

test('each table has a sentence', async () => {
  for (const { name, description } of await tables())
    expect({ name, description }).toEqual({ name, description: expect.stringMatching(/^[A-Z].+\.$/) })
})
