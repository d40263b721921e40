import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { MAX_SCOPES } from '../src/index.ts'
import { testDatabase } from './database.ts'

const db = forAllTests(testDatabase)

test('A farm has at most 1,000 scopes, and no entry is added beyond the most of the never-scan list', async () => {
  const { scopes } = db.store
  await db.sql(`
        insert into scan_scopes (name, allowed, denied, owner, note, windows, zone, created_by)
        select 's' || n, '{*}', '{}', '', '', '[]', 'UTC', 'test' from generate_series(2, ${MAX_SCOPES}) n`)
  expect(await scopes.add({ name: 'last', allowed: ['*'] }, 'test')).toMatchObject({ name: 'last' })
  expect(await scopes.add({ name: 'more', allowed: ['*'] }, 'test')).toBe('full')
  expect(await scopes.find('more')).toBeUndefined()

  const entry = (name: string) => ({ entry: `${name}.example`, reason: 'a hospital' })
  expect(await scopes.addNeverScan([entry('a')], 'test', 2)).toMatchObject({ added: 1 })
  expect(await scopes.addNeverScan([entry('b'), entry('c')], 'test', 2)).toBe('full')
  expect((await scopes.neverScan(undefined, { offset: 0, limit: 10 })).total).toBe(1)
})
