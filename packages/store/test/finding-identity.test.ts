import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { FindingContent } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testDatabase } from './database.ts'
import { findingOf } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => db.sql('truncate vulnerabilities, event_logs cascade'))

const inFile = (changes: Partial<FindingContent> = {}) =>
  findingOf({ vuln_info: 'rule', asset_type: 'file', asset_value: 'a.py:3', ...changes })
const list = async () => (await db.store.vulnerabilities.list({}, { offset: 0, limit: 50 })).data
const importAll = (items: FindingContent[], part?: { of: string; no: number }) =>
  db.store.vulnerabilities.import('w', 'sarif', items, part)

describe('results that are equal', () => {
  test('Equal results of one report become one record with the worst severity, its texts and their number', async () => {
    const results = (['low', 'critical', 'medium'] as const).map((severity) =>
      inFile({ severity, vuln_title: severity }),
    )
    expect(await importAll(results)).toEqual({
      new: 1,
      updated: 0,
      unchanged: 0,
      known: 0,
      merged: 2,
      errors: 0,
    })
    expect(await list()).toMatchObject([{ severity: 'critical', vuln_title: 'critical', occurrences: 3 }])
  })

  test.each([
    ['the worst first', 'high', 'low'],
    ['the worst last', 'low', 'high'],
  ] as const)(
    'They are one record also in different parts of an import, %s',
    async (_case, first, second) => {
      const importBoth = async () => {
        const of = randomUUID()
        const one = await importAll([inFile({ severity: first, vuln_title: first })], { of, no: 1 })
        const two = await importAll(
          [inFile({ severity: second, vuln_title: second }), inFile({ severity: 'info' })],
          { of, no: 2 },
        )
        return { one, two }
      }
      expect(await importBoth()).toMatchObject({
        one: { new: 1, known: 0, merged: 0 },
        two: { new: 0, known: 0, merged: 2 },
      })
      expect(await list()).toMatchObject([
        { severity: 'high', vuln_title: 'high', occurrences: 3, times_seen: 1 },
      ])
      expect(await importBoth()).toMatchObject({
        one: { new: 0, known: 1, merged: 0 },
        two: { known: 0, merged: 2 },
      })
      expect(await list()).toMatchObject([{ severity: 'high', occurrences: 3, times_seen: 2 }])
    },
  )

  test('Parts may be saved in any order', async () => {
    const of = randomUUID()
    await importAll([inFile({ severity: 'low' })], { of, no: 2 })
    expect(await importAll([inFile(), inFile()], { of, no: 1 })).toMatchObject({
      new: 0,
      known: 0,
      merged: 2,
    })
    expect(await list()).toMatchObject([{ severity: 'high', occurrences: 3, times_seen: 1 }])
  })

  test('A part that is saved a second time counts once', async () => {
    const part = { of: randomUUID(), no: 1 }
    await importAll([inFile(), inFile()], part)
    await importAll([inFile(), inFile()], part)
    expect(await list()).toMatchObject([{ occurrences: 2, times_seen: 1 }])
  })

  test('A later import replaces the severity and the number', async () => {
    await importAll([inFile(), inFile({ severity: 'critical' })], { of: randomUUID(), no: 1 })
    await importAll([inFile({ severity: 'low' })], { of: randomUUID(), no: 1 })
    expect(await list()).toMatchObject([{ severity: 'low', occurrences: 1 }])
  })
})

describe('fingerprints', () => {
  test('A fingerprint tells results of one place apart', async () => {
    const results = ['', 'matcher m1', 'matcher m2'].map((fingerprint) =>
      findingOf({ asset_value: 'https://a.example', fingerprint }),
    )
    expect(await importAll(results)).toMatchObject({ new: 3 })
    expect(await importAll(results.toReversed())).toMatchObject({ new: 0, unchanged: 3 })
  })

  test('A finding with a fingerprint keeps its record when its line gets another number', async () => {
    await importAll([inFile({ fingerprint: 'eval(x)' })])
    expect(await importAll([inFile({ fingerprint: 'eval(x)', asset_value: 'a.py:4' })])).toMatchObject({
      new: 0,
      updated: 1,
    })
    expect(await list()).toMatchObject([{ asset_value: 'a.py:4', times_seen: 2, fingerprint: 'eval(x)' }])
    expect(await importAll([inFile({ fingerprint: 'eval(x)', asset_value: 'b.py:4' })])).toMatchObject({
      new: 1,
    })
  })

  test('A record without a fingerprint gets that of the first result with its identity, and its twin the identity', async () => {
    await db.store.vulnerabilities.create('w', inFile({ vuln_title: 'known' }))
    await db.store.vulnerabilities.create('w', inFile({ vuln_title: 'twin' }))
    expect(
      await importAll([inFile({ fingerprint: 'col 5' }), inFile({ fingerprint: 'col 9' })]),
    ).toMatchObject({ new: 1, known: 1 })
    expect(
      (await list()).map(({ vuln_title, fingerprint, times_seen }) => [vuln_title, fingerprint, times_seen]),
    ).toEqual([
      ['', 'col 9', 1],
      ['twin', '', 1],
      ['known', 'col 5', 2],
    ])
    expect(await importAll([inFile()])).toMatchObject({ known: 1 })
    expect((await list()).find(({ vuln_title }) => vuln_title === 'twin')?.times_seen).toBe(2)
  })

  test('Concurrent imports that bring fingerprints neither duplicate records nor deadlock', async () => {
    const items = Array.from({ length: 60 }, (_, n) => inFile({ asset_value: `a${n}.py:1` }))
    await importAll(items)
    const named = items.map((item, n) => ({ ...item, fingerprint: `f${n}` }))
    const counts = await Promise.all([importAll(named), importAll(named.toReversed()), importAll(named)])
    expect(counts.map((count) => [count.new, count.known])).toEqual([
      [0, 60],
      [0, 60],
      [0, 60],
    ])
    expect(await db.store.vulnerabilities.list({}, { offset: 0, limit: 1 })).toMatchObject({ total: 60 })
  })
})
