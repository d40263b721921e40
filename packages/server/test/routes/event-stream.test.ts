import { describe, expect, test } from '@jest/globals'
import { eventDraft } from '@scanfarm/store/testing'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const server = forAllTests(() => testServer({ workflows: {} }))

interface Frame {
  readonly id: string
  readonly topic: string
  readonly name: string
}

/** Reads the stream until this many events have arrived, then disconnects. */
const follow = async (count: number, query = '', headers: Record<string, string> = {}): Promise<Frame[]> => {
  const gone = new AbortController()
  const response = await fetch(`${server.url}/api/events/stream${query}`, {
    headers: { Authorization: `Bearer ${server.tokens.viewer}`, ...headers },
    signal: gone.signal,
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const frames: Frame[] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const [, id, data] = /^id: (.+)\ndata: (.+)$/.exec(part) ?? []
      if (id !== undefined && data !== undefined) frames.push({ ...JSON.parse(data), id })
    }
    if (frames.length >= count) break
  }
  gone.abort()
  return frames
}

const record = (topic: string, name: string) =>
  server.store.triggers.record(eventDraft(topic, { text: 'line\nbreak' }, { name }))

const names = (frames: readonly Frame[]): string[] => frames.map(({ name }) => name)

describe('GET /events/stream', () => {
  test('the stream sends events and continues after the last received one', async () => {
    const start = await server.store.feed.end()
    for (let n = 0; n < 5; n++) await record('custom.a', `a${n}`)
    const first = await follow(3, `?last_event_id=${start}`)
    expect(names(first).slice(0, 3)).toEqual(['a0', 'a1', 'a2'])
    const rest = await follow(2, '', { 'Last-Event-ID': first[2]?.id ?? '' })
    expect(names(rest)).toEqual(['a3', 'a4'])
  })

  test('the stream sends new events that match its filter', async () => {
    const following = follow(2, '?topic=custom.w[a-b]nt*')
    let ended = false
    void following.finally(() => (ended = true))
    for (let n = 0; !ended && n < 500; n++) {
      await record('custom.other', 'other')
      await record('custom.wanted', `w${n}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect((await following).every(({ topic }) => topic === 'custom.wanted')).toBe(true)
  })

  test('streams are counted as requests, without their duration', async () => {
    const start = await server.store.feed.end()
    await record('custom.timed', 't')
    await follow(1, `?last_event_id=${start}`)
    const text = await until(async () => {
      const { text: metrics } = await server.viewer.get('/metrics').expect(200)
      const isCounted = metrics.includes('requests_total{method="GET",route="/events/stream",status="200"}')
      return isCounted && metrics.includes('request_seconds_count{method="GET",route="/metrics"}') && metrics
    })
    expect(text).not.toMatch(/scanfarm_http_request_seconds\w*\{[^}]*stream/)
  })

  test('the stream refuses an invalid event id', async () => {
    const answer = await server.viewer.get('/api/events/stream?last_event_id=yesterday')
    expect(answer.status).toBe(400)
    expect((await server.nobody.get('/api/events/stream')).status).toBe(401)
  })
})
