import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import { until } from './fixtures.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const event = (name: string) => ({
  topic: 'custom.feed',
  eventId: `evt_${name}`,
  name,
  source: 'api',
  dataType: 'custom',
  data: '{}',
  workspace: '',
  runId: '',
  workflowName: '',
})
const INSERT = `select insert_event('{"topic": "custom.feed", "event_id": "evt_slow", "name": "slow", "source": "api",
  "data_type": "custom", "data": "{}", "workspace": "", "run_id": "", "workflow_name": ""}', true, '')`

/**
 * The first `count` names behind a place, page by page, as soon as they are told: any transaction under way on the
 * server may precede them, those of other databases and of its own housekeeping too.
 */
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
  test('tells nothing that an older transaction could still precede, and misses nothing of it', async () => {
    const { feed, triggers } = database.store
    const start = await feed.end()
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

  test('goes on page by page, and past what a filter leaves out', async () => {
    const { feed, triggers } = database.store
    const start = await feed.end()
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

  test('takes a place of another database for the end', async () => {
    const { feed, triggers } = database.store
    const { next } = await feed.read({ after: '999999999999-1', limit: 10 })
    await triggers.record(event('after'))
    expect(await namesAfter(next, 1)).toEqual(['after'])
  })
})
