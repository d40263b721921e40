import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { EventStreams } from '../../src/loops/event-receiver/event-streams.ts'
import { Wake } from '../../src/wake.ts'

/** Ends a hang, no more: without a word a stream stays open for ever. */
const PATIENCE_MS = 25_000

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase({ poolSize: 2 })
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

const closeWithin = async (stream: NodeJS.EventEmitter, ms: number): Promise<void> => {
  await once(stream, 'close', { signal: AbortSignal.timeout(ms) })
}

describe('streams of events', () => {
  test('end at once when the server stops, and when their client goes', async () => {
    const streams = new EventStreams(database.store.feed, new Wake())
    const client = new AbortController()
    const gone = await streams.open(undefined, {}, client.signal)
    const stopped = await streams.open(undefined, {}, new AbortController().signal)
    for (const stream of [gone, stopped]) await once(stream.resume(), 'data')
    client.abort()
    await closeWithin(gone, PATIENCE_MS)
    streams[Symbol.dispose]()
    await closeWithin(stopped, PATIENCE_MS)
  })

  test('are refused when too many listen', async () => {
    using streams = new EventStreams(database.store.feed, new Wake())
    const client = new AbortController()
    const open = () => streams.open('0-0', {}, client.signal)
    const all = await Promise.all(Array.from({ length: 100 }, open))
    await expect(open()).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    const closed = all.map((stream) => once(stream, 'close'))
    client.abort()
    for (const stream of all) stream.destroy()
    await Promise.all(closed)
    const again = await open()
    again.destroy()
    await once(again, 'close')
  })

  test('are refused as well when too many come at the same moment', async () => {
    using streams = new EventStreams(database.store.feed, new Wake())
    const client = new AbortController()
    const opened = await Promise.allSettled(
      Array.from({ length: 101 }, () => streams.open(undefined, {}, client.signal)),
    )
    client.abort()
    const failures = opened.filter(({ status }) => status === 'rejected')
    expect(failures).toMatchObject([{ reason: { code: 'unavailable' } }])
  })
})
