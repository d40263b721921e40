import { describe, expect, test } from '@jest/globals'
import type { EventRecord } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testDatabase } from './database.ts'
import { claimAll, findingOf, joined, keyOf, submitted } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
/** Text that does not become shorter when Postgres compresses it. */
const noise = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(97 + Math.trunc(Math.random() * 26))).join('')

const eventOf = async (eventId: string) => {
  const { data } = await db.store.events.list({}, { offset: 0, limit: 1_000 })
  const found = data.find((entry) => entry.event_id === eventId)
  if (found === undefined) throw new Error(`no event ${eventId}`)
  return found
}

const recorded = async (event: Partial<EventRecord>) => {
  await submitted(db.store)
  const [run] = await claimAll(db.store, db.runStore, await joined(db.runStore))
  if (run === undefined) throw new Error('nothing was claimed')
  const eventId = `evt_${noise(12)}`
  const whole = { eventId, topic: 't', name: 'n', source: 's', dataType: 'd', data: '{}', ...event }
  await db.runStore.record([{ ...keyOf(run), events: [whole] }])
  return await eventOf(eventId)
}

describe('the event log', () => {
  test('The data of an event of a worker beyond 1 MiB is replaced by valid JSON', async () => {
    const data = JSON.stringify({ text: 'x'.repeat(2_000_000) })
    const entry = await recorded({ data })
    expect(JSON.parse(entry.data)).toEqual({ truncated: true, bytes: data.length })
  })

  test('The topic, name, source and data type of an event are cut to a length that an index can hold', async () => {
    const long = noise(10_000)
    const entry = await recorded({ topic: long, name: long, source: long, dataType: long })
    expect(entry).toMatchObject({
      topic: long.slice(0, 256),
      name: long.slice(0, 256),
      source: long.slice(0, 256),
      data_type: long.slice(0, 256),
    })
  })

  test('The event of a finding that is too large keeps its small fields', async () => {
    const tags = Array.from({ length: 256 }, () => noise(256).replaceAll('a', 'ä'))
    await db.store.vulnerabilities.create(
      'w',
      findingOf({
        vuln_info: 'CVE-2026-1',
        vuln_title: 'Old library',
        asset_value: 'https://a.example',
        tags,
      }),
    )
    const { data } = await db.store.events.list({ topic: 'vuln.found' }, { offset: 0, limit: 1 })
    expect(data[0]?.data.length).toBeLessThan(65_536)
    const kept: unknown = JSON.parse(data[0]?.data ?? '')
    expect(kept).toMatchObject({ truncated: true, severity: 'high', asset_value: 'https://a.example' })
    expect(kept).not.toHaveProperty('tags')
  })

  test('Filters of triggers get the bounded data of an older, larger event', async () => {
    await db.sql('alter table event_logs disable trigger event_bounded')
    await db.sql(`insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id,
      workflow_name, processed) values ('custom.old', 'evt_old', 'n', 's', 'd', repeat('x', 2000000), '', '', '', false)`)
    await db.sql('alter table event_logs enable trigger event_bounded')
    const claimed = await db.store.triggers.claimEvents({ limit: 10, leaseMs: 1_000 })
    const [old] = claimed.filter(({ event_id }) => event_id === 'evt_old')
    expect(JSON.parse(old?.data ?? '')).toEqual({ truncated: true, bytes: 2_000_000 })
  })
})
