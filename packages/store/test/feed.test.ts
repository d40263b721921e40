import { describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { asSuperuser, openTransactionsEnded, testDatabase } from './database.ts'

const database = forAllTests(() => testDatabase())

const event = (name: string) => ({
  topic: 'custom.feed',
  event_id: `evt_${name}`,
  name,
  source: 'api',
  data_type: 'custom',
  data: '{}',
  workspace: '',
  run_id: '',
  workflow_name: '',
})
const INSERT = `select insert_event('{"topic": "custom.feed", "event_id": "evt_slow", "name": "slow", "source": "api",
  "data_type": "custom", "data": "{}", "workspace": "", "run_id": "", "workflow_name": ""}', true, '')`

/** Behind all events so far: an older transaction of the server, also of another database, holds the end back. */
const endOfFeed = async (): Promise<string> => {
  await openTransactionsEnded(database.url)
  return await database.store.feed.end()
}

/** The first `count` names after a position. It polls: older transactions, even of others, hold events back. */
const namesAfter = async (start: string, count: number): Promise<string[]> => {
  const names: string[] = []
  let after = start
  await until(async () => {
    const { entries, next } = await database.store.feed.read({ after, limit: 2 })
    names.push(...entries.map(({ name }) => name))
    after = next
    return names.length >= count
  })
  return names
}

describe('the feed', () => {
  test('An event is withheld while an older transaction could still add one before it, and no event is missed', async () => {
    const { feed, triggers } = database.store
    const start = await endOfFeed()
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query(INSERT)
      await triggers.record(event('quick'))
      const early = await feed.read({ after: start, limit: 10 })
      expect(early.entries).toEqual([])
      await client.query('commit')
      expect(await namesAfter(early.next, 2)).toEqual(['slow', 'quick'])
    }, database.url)
  })

  test('A reader continues page by page, and past events that its filter excludes', async () => {
    const { feed, triggers } = database.store
    const start = await endOfFeed()
    for (const name of ['one', 'two', 'three']) await triggers.record(event(name))
    expect(await namesAfter(start, 3)).toEqual(['one', 'two', 'three'])
    const first = await feed.read({ after: start, limit: 2 })
    expect(first.entries.map(({ name }) => name)).toEqual(['one', 'two'])
    const second = await feed.read({ after: first.next, limit: 2 })
    expect(second.entries.map(({ name }) => name)).toEqual(['three'])
    expect((await feed.read({ after: second.next, limit: 2 })).entries).toEqual([])
    const other = await feed.read({ after: start, limit: 2, filter: { topic: 'custom.none' } })
    expect(other.entries).toEqual([])
    expect((await feed.read({ after: other.next, limit: 2 })).entries).toEqual([])
  })

  test('A page ends at its limit of bytes, has at least one entry, and the next one misses nothing', async () => {
    const { feed, triggers } = database.store
    const start = await endOfFeed()
    const data = JSON.stringify({ text: 'x'.repeat(40_000) })
    const count = 30
    for (let n = 0; n < count; n++) await triggers.record({ ...event(`large${n}`), data })
    await namesAfter(start, count)
    const pages: number[] = []
    const names: string[] = []
    for (let after = start, more = true; more;) {
      const page = await feed.read({
        after,
        limit: 1_000,
        maxBytes: 100_000,
        filter: { topic: 'custom.feed' },
      })
      pages.push(page.entries.length)
      names.push(...page.entries.map(({ name }) => name))
      ;({ next: after, more } = page)
    }
    expect(pages).toEqual(Array.from({ length: 15 }, () => 2))
    expect(names).toEqual(Array.from({ length: count }, (_, n) => `large${n}`))
    const tiny = await feed.read({ after: start, limit: 1_000, maxBytes: 1 })
    expect(tiny).toMatchObject({ entries: [{ name: 'large0' }], more: true })
    const whole = await feed.read({ after: start, limit: 1_000 })
    expect(whole.entries).toHaveLength(26)
  })

  test('A page reads a bounded number of entries, however few match its filter', async () => {
    const { feed, triggers } = database.store
    const start = await endOfFeed()
    await database.sql(`insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id,
          workflow_name, processed, processed_at) select 'custom.many', 'evt_' || n, 'many', 'api', 'custom', '{}', '',
          '', '', true, now() from generate_series(1, 12000) n`)
    await triggers.record({ ...event('needle'), topic: 'custom.needle' })
    const found: string[] = []
    let reads = 0
    for (let after = start, more = true; more || found.length === 0; reads++) {
      const page = await feed.read({ after, limit: 10, filter: { topic: 'custom.needle' } })
      found.push(...page.entries.map(({ name }) => name))
      ;({ next: after, more } = page)
    }
    expect(found).toEqual(['needle'])
    expect(reads).toBeGreaterThan(2)
  })

  test('A position of another database counts as the end of the feed', async () => {
    const { feed, triggers } = database.store
    const { next } = await feed.read({ after: '999999999999-1', limit: 10 })
    await triggers.record(event('after'))
    expect(await namesAfter(next, 1)).toEqual(['after'])
  })
})
