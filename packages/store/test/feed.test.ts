import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'

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
      const { entries } = await feed.read({ after: early.next, limit: 10 })
      expect(entries.map(({ name }) => name)).toEqual(['slow', 'quick'])
    }, database.url)
  })

  test('goes on page by page, and past what a filter leaves out', async () => {
    const { feed, triggers } = database.store
    let after = await feed.end()
    for (const name of ['one', 'two', 'three']) await triggers.record(event(name))
    const names: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      const { entries, next } = await feed.read({ after, limit: 2 })
      names.push(...entries.map(({ name }) => name))
      after = next
    }
    expect(names).toEqual(['one', 'two', 'three'])
    const other = await feed.read({ after, limit: 2, filter: { topic: 'custom.none' } })
    expect(other.entries).toEqual([])
  })

  test('takes a place of another database for the end', async () => {
    const { feed, triggers } = database.store
    const { next } = await feed.read({ after: '999999999999-1', limit: 10 })
    await triggers.record(event('after'))
    expect((await feed.read({ after: next, limit: 10 })).entries.map(({ name }) => name)).toEqual(['after'])
  })
})
