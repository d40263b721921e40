import { once } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { asSuperuser, testDatabase } from '@scanfarm/store/testing'
import { EventStreams } from '../src/routes/events/event-streams.ts'
import { Notifier } from '../src/notifier.ts'

const REST_MS = 50

const database = forAllTests(() => testDatabase({ poolSize: 2 }))

/** Notifies continuously until `done`; returns how often. */
const storm = (done: () => boolean) =>
  asSuperuser(async (client) => {
    let count = 0
    for (; !done(); count += 50)
      await client.query(Array.from({ length: 50 }, () => `begin; notify scanfarm_masters; commit`).join(';'))
    return count
  }, database.url)

describe('database notifications', () => {
  test('a notification is forwarded immediately, and a burst is combined at the end of the rest period', async () => {
    const notifier = new Notifier({ restMs: REST_MS })
    const passed: number[] = []
    using _ = notifier.onNotify(() => passed.push(performance.now()))
    notifier.notify()
    expect(passed).toHaveLength(1)
    for (let n = 0; n < 100; n += 1) notifier.notify()
    expect(passed).toHaveLength(1)
    await notifier.next(10_000)
    const [first = 0, second = 0] = passed
    expect(passed).toHaveLength(2)
    expect(second - first).toBeGreaterThanOrEqual(REST_MS - 2)
  })

  test('an event window reads at most once per rest period during a burst and still sends new events', async () => {
    const notifier = new Notifier({ restMs: REST_MS })
    await using _listening = await database.store.listen(() => notifier.notify())
    let reads = 0
    const { feed } = database.store
    const counted: typeof feed = {
      ...feed,
      read: async (request) => {
        reads += 1
        return await feed.read(request)
      },
    }
    using streams = new EventStreams(counted, notifier)
    const gone = new AbortController()
    const stream = await streams.open('caller', undefined, {}, gone.signal)
    await once(stream, 'readable')
    let over = false
    const storming = storm(() => over)
    const begin = performance.now()
    const before = reads
    for (let n = 0; n < 20; n += 1) await notifier.next(10_000)
    const text: string[] = []
    const seen = (async () => {
      for await (const chunk of stream) {
        text.push(String(chunk))
        if (text.join('').includes('in the storm')) break
      }
    })()
    await database.sql(`insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id,
          workflow_name, processed, processed_at)
          values ('custom.storm', 'evt_storm', 'in the storm', 'api', 'custom', '{}', '', '', '', true, now())`)
    await seen
    const rests = (performance.now() - begin) / REST_MS
    over = true
    gone.abort()
    expect(await storming).toBeGreaterThan(10 * rests)
    expect(reads - before).toBeLessThanOrEqual(rests + 3)
  })
})
