import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createClient, type Client, type FarmEvent, type Job, type RunDetail } from '../src/index.ts'
import { startFarm, TOKEN, type Farm } from './_farm.ts'

let farm: Farm
let client: Client
beforeAll(async () => {
  farm = await startFarm()
  client = createClient({ url: `${farm.url}/`, token: TOKEN })
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

/** Reads events of a topic until this many have arrived. `open` resolves when the stream is connected. */
const collect = (topic: string, count: number) => {
  const open = Promise.withResolvers<void>()
  const connections: (string | undefined)[] = []
  const events: FarmEvent[] = []
  const onConnection = (error?: { readonly code: string }): void => {
    connections.push(error?.code)
    open.resolve()
  }
  const reading = (async () => {
    for await (const event of client.events({ topic, onConnection })) if (events.push(event) === count) break
    return events
  })()
  reading.catch(open.reject)
  return { open: open.promise, reading, connections, events }
}

const emit = (topic: string, name: string) => client.POST('/events/emit', { body: { topic, name, data: {} } })

const names = (events: readonly FarmEvent[]): string[] => events.map(({ name }) => name)

describe('calls', () => {
  test('an answer has the type of its path', async () => {
    const { data } = await client.POST('/runs', {
      body: { module: 'quick', targets: ['a.example', 'b.example'] },
    })
    expect(data.target_count).toBe(2)
    const runs = await client.GET('/runs', { params: { query: { job_id: data.job_id } } })
    expect(runs.data.data.map(({ target }) => target).sort()).toEqual(['a.example', 'b.example'])
    const id = String(runs.data.data[0]?.id)
    const { data: one } = await client.GET('/runs/{id}', { params: { path: { id } } })
    expect(one.data.workflow_name).toBe('quick')
  })

  test('a refusal is an ApiError with all that the server says', async () => {
    await expect(client.GET('/runs/{id}', { params: { path: { id: 'none' } } })).rejects.toMatchObject({
      name: 'ApiError',
      status: 404,
      code: 'not_found',
      requestId: expect.stringMatching(/./),
      method: 'GET',
      url: `${farm.url}/api/runs/none`,
      isTemporary: false,
    })
    await expect(client.POST('/runs', { body: { module: 'quick', target: '' } })).rejects.toMatchObject({
      status: 400,
      details: [{ path: expect.stringMatching(/^\/target/), message: expect.any(String) }],
    })
  })

  test('an address that is not one of a server is refused at once', () => {
    for (const url of ['', 'localhost:8002', 'ftp://a.example'])
      expect(() => createClient({ url })).toThrow('is not the address of a server')
  })

  test('a server that cannot be reached is an ApiError without a status', async () => {
    const lost = createClient({ url: 'http://127.0.0.1:4', retry: false })
    await expect(lost.GET('/runs')).rejects.toMatchObject({
      status: 0,
      code: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
      isTemporary: true,
    })
  })
})

describe('lists', () => {
  test('all records of a list come from as many pages as it has', async () => {
    const targets = Array.from({ length: 45 }, (_, n) => `t${n}.example`)
    const { data } = await client.POST('/runs', { body: { module: 'slow', targets, run_mode: 'local' } })
    for (const limit of [undefined, 10]) {
      const sizes: number[] = []
      const query = { job_id: data.job_id, limit }
      for await (const page of client.pages('/runs', { params: { query } })) sizes.push(page.data.length)
      expect(sizes).toEqual(limit === undefined ? [20, 25] : [10, 10, 10, 10, 5])
      const found: string[] = []
      for await (const run of client.list('/runs', { params: { query } })) found.push(run.target)
      expect(found.sort()).toEqual(targets.toSorted())
    }
    await client.POST('/jobs/{job_id}/cancel', { params: { path: { job_id: data.job_id } } })
    await client.waitForJob(data.job_id)
  })

  test('a list without a cursor is continued by its offset', async () => {
    for (let n = 0; n < 25; n += 1) await emit('custom.paged', `p${n}`)
    const found: string[] = []
    for await (const { name } of client.list('/event-logs', {
      params: { query: { topic: 'custom.paged', limit: 10 } },
    }))
      found.push(name)
    expect(found).toHaveLength(25)
    expect(new Set(found).size).toBe(25)
  })

  test('a list that has one page needs one request', async () => {
    const pages = []
    for await (const page of client.pages('/workers')) pages.push(page)
    expect(pages).toHaveLength(1)
    expect(pages[0]?.data[0]?.kind).toBe('server')
  })
})

describe('waiting', () => {
  test('waitForRun resolves with the run when it has ended', async () => {
    const gate = join(farm.folder, 'gate')
    const { data } = await client.POST('/runs', { body: { module: 'held', target: gate } })
    const seen: RunDetail['status'][] = []
    const run = await client.waitForRun(String(data.run_uuid), {
      onProgress: async ({ status }) => {
        seen.push(status)
        await writeFile(gate, '')
      },
    })
    expect(run).toMatchObject({ status: 'completed', run_uuid: data.run_uuid })
    expect(seen[0]).not.toBe('completed')
    expect(seen.at(-1)).toBe('completed')
  })

  test('news of a run end a wait long before it would poll', async () => {
    const gate = join(farm.folder, 'gate-of-news')
    const { data } = await client.POST('/runs', { body: { module: 'held', target: gate } })
    let polls = 0
    const began = performance.now()
    const waiting = client.waitForRun(String(data.run_uuid), {
      refreshMs: 600_000,
      onProgress: ({ status }) => {
        polls += 1
        // The stream is open by now: its first event is the start of the run, or this end.
        if (status === 'running') return writeFile(gate, '')
      },
    })
    expect((await waiting).status).toBe('completed')
    expect(performance.now() - began).toBeLessThan(60_000)
    expect(polls).toBeLessThan(6)
  })

  test('news of a job end a wait long before it would poll', async () => {
    const gate = join(farm.folder, 'gate-of-job')
    const { data } = await client.POST('/runs', { body: { module: 'held', target: gate } })
    const began = performance.now()
    const job = await client.waitForJob(data.job_id, {
      refreshMs: 600_000,
      onProgress: ({ running }) => (running > 0 ? writeFile(gate, '') : undefined),
    })
    expect(job.completed).toBe(1)
    expect(performance.now() - began).toBeLessThan(60_000)
  })

  test('waitForJob counts failed runs as ended, and reports the progress', async () => {
    const { data } = await client.POST('/runs', {
      body: { module: 'failing', targets: ['a.example', 'b.example'] },
    })
    const states: Job[] = []
    const job = await client.waitForJob(data.job_id, { onProgress: (state) => void states.push(state) })
    expect(job).toMatchObject({ total_runs: 2, failed: 2, status: 'failed' })
    expect(states.at(-1)).toEqual(job)
  })

  test('an abort ends a wait with its reason', async () => {
    const { data } = await client.POST('/runs', { body: { module: 'slow', target: 'a.example' } })
    const stop = new AbortController()
    const waiting = client.waitForJob(data.job_id, {
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('no patience')),
    })
    await expect(waiting).rejects.toThrow('no patience')
    await client.POST('/jobs/{job_id}/cancel', { params: { path: { job_id: data.job_id } } })
    await client.waitForJob(data.job_id)
  })

  test('a wait for what does not exist is refused', async () => {
    await expect(client.waitForRun('none')).rejects.toMatchObject({ code: 'not_found' })
    await expect(client.waitForJob('none')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('events', () => {
  test('a stream sends what happens after it was opened, and continues from a position', async () => {
    const { open, reading } = collect('custom.live', 3)
    await open
    for (const name of ['one', 'two', 'three']) await emit('custom.live', name)
    const events = await reading
    expect(names(events)).toEqual(['one', 'two', 'three'])
    const rest: string[] = []
    for await (const { name } of client.events({ topic: 'custom.live', lastEventId: events[0]?.position })) {
      rest.push(name)
      if (rest.length === 2) break
    }
    expect(rest).toEqual(['two', 'three'])
  })

  test('a stream and a wait survive a restart of the server, and lose and repeat nothing', async () => {
    const gate = join(farm.folder, 'gate-of-restart')
    const { data } = await client.POST('/runs', { body: { module: 'held', target: gate } })
    const waiting = client.waitForRun(String(data.run_uuid))
    // One stream has received an event before the restart, the other has not.
    const busy = collect('custom.busy', 4)
    const idle = collect('custom.idle', 2)
    await Promise.all([busy.open, idle.open])
    await emit('custom.busy', 'b1')
    await emit('custom.busy', 'b2')
    await farm.stop()
    await farm.start()
    await emit('custom.idle', 'i1')
    await emit('custom.busy', 'b3')
    await emit('custom.busy', 'b4')
    await emit('custom.idle', 'i2')
    expect(names(await busy.reading)).toEqual(['b1', 'b2', 'b3', 'b4'])
    expect(names(await idle.reading)).toEqual(['i1', 'i2'])
    expect(busy.connections).toContain('unreachable')
    expect(busy.connections.at(-1)).toBeUndefined()
    await writeFile(gate, '')
    expect((await waiting).status).toBe('completed')
  })

  test('a stream that may not be read is refused, and an abort ends one', async () => {
    const stranger = createClient({ url: farm.url, token: 'wrong' }).events()
    await expect(stranger.next()).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
    const stop = new AbortController()
    const events = client.events({ signal: stop.signal, onConnection: () => stop.abort(new Error('enough')) })
    await expect(events.next()).rejects.toThrow('enough')
  })

  test('a loop that is left closes its stream', async () => {
    // The server allows a caller ten streams at once.
    for (let n = 0; n < 12; n += 1) {
      const { open, reading } = collect('custom.left', 1)
      await open
      await emit('custom.left', `l${n}`)
      await reading
    }
  })
})
