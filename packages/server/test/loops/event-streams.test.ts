import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { testDatabase } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { EventStreams } from '../../src/routes/events/event-streams.ts'
import { Notifier } from '../../src/notifier.ts'

/** Only ends a hang: without an end, a stream stays open forever. */
const PATIENCE_MS = 100_000

const database = forAllTests(() => testDatabase({ poolSize: 2 }))

const closeWithin = async (stream: NodeJS.EventEmitter, ms: number): Promise<void> => {
  await once(stream, 'close', { signal: AbortSignal.timeout(ms) })
}

const NEVER = new AbortController().signal
const MIB = 1024 * 1024

/** Writes events with this many bytes of data each. */
const write = (name: string, count: number, bytes: number) =>
  database.sql(`insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id,
        workflow_name, processed, processed_at)
        select 'custom.${name}', 'evt_' || n, '${name} ' || n, 'api', 'custom',
               repeat(md5(random()::text || n), ${Math.ceil(bytes / 32)}),
               '', '', '', true, now() from generate_series(1, ${count}) n`)

interface Read {
  readonly names: string[]
  readonly ids: string[]
  readonly cut: string | undefined
}

/** Reads until a stream ends or a condition holds. */
const readUntil = async (
  stream: AsyncIterable<Buffer>,
  done: (read: Read) => boolean = () => false,
): Promise<Read> => {
  let text = ''
  let read: Read = { names: [], ids: [], cut: undefined }
  for await (const chunk of stream) {
    text += chunk.toString()
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      const [, id = ''] = /^id: (.+)$/m.exec(frame) ?? []
      const [, data] = /^data: (.+)$/m.exec(frame) ?? []
      if (frame.includes('\nevent: cut\n')) read = { ...read, cut: id }
      else if (data !== undefined) {
        read.names.push((JSON.parse(data) as { name: string }).name)
        read.ids.push(id)
      }
    }
    if (done(read)) break
  }
  return read
}

const numbered = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `${name} ${from + index}`)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Memory in use without buffers that are garbage. `external` includes array buffers. */
const held = (): NodeJS.MemoryUsage => {
  // Another thread frees the memory of buffers; the next collection waits for that thread.
  collect()
  collect()
  return process.memoryUsage()
}

describe('event streams', () => {
  test('a stream ends immediately when the server stops or its client disconnects', async () => {
    const streams = new EventStreams(database.store.feed, new Notifier())
    const client = new AbortController()
    const gone = await streams.open('a', undefined, {}, client.signal)
    const stopped = await streams.open('a', undefined, {}, NEVER)
    for (const stream of [gone, stopped]) await once(stream.resume(), 'data')
    client.abort()
    await closeWithin(gone, PATIENCE_MS)
    streams[Symbol.dispose]()
    await closeWithin(stopped, PATIENCE_MS)
  })

  test('an eleventh stream of one caller is refused, and another caller still gets one', async () => {
    using streams = new EventStreams(database.store.feed, new Notifier())
    const open = (caller: string) => streams.open(caller, '0-0', {}, NEVER)
    const own = await Promise.all(Array.from({ length: 10 }, () => open('one')))
    await expect(open('one')).rejects.toMatchObject({
      code: 'too_many_requests',
      status: 429,
      retryAfter: 30,
    })
    const other = await open('other')
    own[0]?.destroy()
    if (own[0] !== undefined) await closeWithin(own[0], PATIENCE_MS)
    const again = await open('one')
    for (const stream of [...own, other, again]) stream.destroy()
  })

  test('a stream is refused if too many are open', async () => {
    using streams = new EventStreams(database.store.feed, new Notifier())
    const client = new AbortController()
    let callers = 0
    const open = () => streams.open(`caller ${callers++ % 50}`, '0-0', {}, client.signal)
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

  test('concurrent requests for too many streams are refused too', async () => {
    using streams = new EventStreams(database.store.feed, new Notifier())
    const client = new AbortController()
    const opened = await Promise.allSettled(
      Array.from({ length: 101 }, (_, index) =>
        streams.open(`caller ${index}`, undefined, {}, client.signal),
      ),
    )
    client.abort()
    const failures = opened.filter(({ status }) => status === 'rejected')
    expect(failures).toMatchObject([{ reason: { code: 'unavailable' } }])
  })

  test('a stream loses and repeats nothing when it moves from old to new events', async () => {
    using streams = new EventStreams(database.store.feed, new Notifier())
    const start = await database.store.feed.end()
    await write('past', 500, 2_000)
    const reading = Promise.all(
      ['a', 'b'].map(async (caller) =>
        readUntil(await streams.open(caller, start, {}, NEVER), ({ names }) => names.length >= 1_100),
      ),
    )
    for (let n = 0; n < 6; n += 1) await write(`now${n}`, 100, 10_000)
    const expected = [
      ...numbered('past', 1, 500),
      ...Array.from({ length: 6 }, (_, n) => numbered(`now${n}`, 1, 100)).flat(),
    ]
    for (const { names } of await reading) expect(names).toEqual(expected)
  })

  test('all streams share one read of the event log', async () => {
    let reads = 0
    const { feed } = database.store
    const counted = {
      ...feed,
      read: (options: Parameters<typeof feed.read>[0]) => (reads++, feed.read(options)),
    }
    using streams = new EventStreams(counted, new Notifier())
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        streams.open(`caller ${index}`, undefined, { topic: 'custom.shared' }, NEVER),
      ),
    )
    const current = all.map(() => Promise.withResolvers<void>())
    const reading = all.map((stream, index) =>
      readUntil(stream, ({ names }) => {
        if (names.length > 0) current[index]?.resolve()
        return names.length >= 51
      }),
    )
    // A stream that has received this event has caught up.
    await write('shared', 1, 100)
    await Promise.all(current.map(({ promise }) => promise))
    const before = reads
    const started = performance.now()
    await write('other', 50, 100)
    await write('shared', 50, 10_000)
    for (const { names } of await Promise.all(reading))
      expect(names).toEqual(['shared 1', ...numbered('shared', 1, 50)])
    const polls = (performance.now() - started) / 500
    expect(reads - before).toBeLessThan(polls + 10)
  })

  test('a stalled reader holds little memory, and its stream ends with the id to continue from', async () => {
    using streams = new EventStreams(database.store.feed, new Notifier(), 0)
    const start = await database.store.feed.end()
    const slow = await Promise.all(
      Array.from({ length: 100 }, (_, index) => streams.open(`caller ${index % 50}`, undefined, {}, NEVER)),
    )
    for (const stream of slow) {
      const news = once(stream, 'readable')
      stream.read(0)
      await news
      expect(String(stream.read())).toContain('retry: ')
    }
    await write('first', 1, 100)
    // Each stream has received the first event and is up to date.
    const giveUpAt = performance.now() + PATIENCE_MS
    while (!slow.every((stream) => stream.readableLength > 100) && performance.now() < giveUpAt)
      await new Promise((done) => setTimeout(done, 50))
    const before = held()
    await write('large', 800, 65_000)
    const one = slow.pop()
    const last = slow[0]
    if (one === undefined || last === undefined) throw new Error('no stream')
    one.destroy()
    await closeWithin(one, PATIENCE_MS)
    // Another reader reads everything meanwhile, so that the window moves on.
    const reader = await streams.open('quick', start, {}, NEVER)
    const all = await readUntil(
      reader,
      ({ names }) => names.filter((name) => name.startsWith('large')).length >= 800,
    )
    const after = held()
    expect((after.external - before.external) / MIB).toBeLessThan(20)
    expect((after.heapUsed - before.heapUsed) / MIB).toBeLessThan(20)

    const cut = await readUntil(last)
    expect(cut.cut).toBeDefined()
    expect(cut.cut).toBe(cut.ids.at(-1) ?? cut.cut)
    const rest = await streams.open('resumed', cut.cut, {}, NEVER)
    const resumed = await readUntil(rest, ({ names }) => names.at(-1) === all.names.at(-1))
    const both = [...cut.names, ...resumed.names].filter((name) => name.startsWith('large'))
    expect(both).toEqual(numbered('large', 1, 800))
  }, 120_000)
})
