import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import type { LogName, StepRecord } from '@scanfarm/contracts'
import { attemptPrefix, LIVE_BLOCK_BYTES, liveBlockKey, RUN_LOG_NAME } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { refusal, testServer } from '../_server.ts'
import { claimLocalRuns, endRun, stepRecord, type RunOfWorker } from '../_worker.ts'

const server = forAllTests(() => testServer())

interface Event {
  readonly event: string
  readonly id: string
  readonly data: {
    offset?: number
    text?: string
    status?: string
    size?: number
    attempt?: number
    step_id?: string
  }
}

/** A running run with a step; the test acts as its worker. */
const running = async (
  change: Partial<StepRecord> = {},
): Promise<{ run: RunOfWorker; step: StepRecord; path: string }> => {
  await server.operator.post('/api/runs').send({ module: 'probe', target: `${randomUUID()}.test` })
  const [run] = await claimLocalRuns(server.runStore, 1)
  if (run === undefined) throw new Error('no run was claimed')
  const step = stepRecord({ status: 'running', output: '', exitCode: null, completedAt: null, ...change })
  await server.runStore.record([{ runId: run.runId, attempt: run.attempt, steps: [step] }])
  return { run, step, path: `/api/runs/${run.runId}/steps/${step.id}/log` }
}

/** Stores live blocks as a worker does. */
const storeLive = async ({ runUuid, attempt }: RunOfWorker, log: LogName, bytes: Buffer): Promise<void> => {
  for (let at = 0; at < bytes.length; at += LIVE_BLOCK_BYTES)
    await server.artifacts.put(
      liveBlockKey(attemptPrefix(runUuid, attempt), log, at),
      Readable.from([bytes.subarray(at, at + LIVE_BLOCK_BYTES)]),
    )
}

const closeStep = async (
  run: RunOfWorker,
  step: StepRecord,
  change: Partial<StepRecord> = {},
): Promise<void> => {
  const closed = {
    ...step,
    status: 'completed' as const,
    exitCode: 0,
    completedAt: new Date().toISOString(),
    ...change,
  }
  await server.runStore.record([{ runId: run.runId, attempt: run.attempt, steps: [closed] }])
}

async function* follow(
  path: string,
  headers: Record<string, string> = {},
  token = server.tokens.viewer,
): AsyncGenerator<Event> {
  const gone = new AbortController()
  try {
    const response = await fetch(`${server.url}${path}${path.includes('?') ? '&' : '?'}follow=true`, {
      headers: { Authorization: `Bearer ${token}`, ...headers },
      signal: gone.signal,
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const parts = (text + decoder.decode(chunk, { stream: true })).split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, id = '', event = '', data = ''] = /^id: (.+)\n(?:event: (.+)\n)?data: (.+)$/.exec(part) ?? []
        if (data !== '') yield { event, id, data: JSON.parse(data) as Event['data'] }
      }
    }
  } finally {
    gone.abort()
  }
}

const textOf = (events: readonly Event[]): string => events.map(({ data }) => data.text ?? '').join('')

describe('the log of a step with follow', () => {
  test('its bytes arrive while it runs, and the rest from the log that is kept', async () => {
    const { run, step, path } = await running()
    const events: Event[] = []
    const whole = `${'é'.repeat(LIVE_BLOCK_BYTES)}x\n`
    // A character is cut at the end of the first block, and another one at the end of what is there.
    const bytes = Buffer.from(`x${whole}`)
    await storeLive(run, step.seq, bytes.subarray(0, bytes.length - 20_002))
    for await (const event of follow(path)) {
      events.push(event)
      if (
        textOf(events).length ===
        bytes
          .subarray(0, bytes.length - 20_002)
          .toString()
          .replace('\ufffd', '').length
      ) {
        const logFile = `${attemptPrefix(run.runUuid, run.attempt)}/logs/${step.seq}.log`
        await server.artifacts.put(logFile, Readable.from([bytes]))
        await closeStep(run, step, { logFile })
      }
    }
    expect(textOf(events) === `x${whole}`).toBe(true)
    expect(events.at(-1)).toEqual({
      event: 'end',
      id: `1-${bytes.length}`,
      data: { status: 'completed', exit_code: 0, size: bytes.length },
    })
    await endRun(server.runStore, run)
  })

  test('a client continues after the last event, also in a log that has ended', async () => {
    const { run, step, path } = await running()
    await closeStep(run, step, { output: 'one\ntwo\n' })
    const rest = await Array.fromAsync(follow(path, { 'Last-Event-ID': '1-4' }))
    expect(rest).toMatchObject([
      { id: '1-8', data: { offset: 4, text: 'two\n' } },
      { event: 'end', id: '1-8' },
    ])
    expect(await Array.fromAsync(follow(`${path}?last_event_id=1-8`))).toMatchObject([{ event: 'end' }])
    const refused = await server.viewer.get(`${path}?follow=true`).set('Last-Event-ID', 'seven')
    expect(refused.status).toBe(400)
    expect(refused.body).toEqual(
      refusal(
        'invalid_input',
        expect.stringContaining('must be the id of an event of this stream') as unknown as string,
        [{ path: '/Last-Event-ID', message: expect.any(String) }],
      ),
    )
    await endRun(server.runStore, run)
  })

  test('a lost run begins again at 0 with the same step of the next attempt', async () => {
    const { run, step, path } = await running()
    await storeLive(run, step.seq, Buffer.from('first\n'))
    const later = stepRecord({ seq: 2, output: 'second\n' })
    const events: Event[] = []
    for await (const event of follow(path)) {
      events.push(event)
      if (events.length > 1) continue
      await server.runStore.handBack([run])
      const [again] = await claimLocalRuns(server.runStore, 1)
      if (again === undefined) throw new Error('the run was not claimed again')
      await endRun(server.runStore, again, {}, { steps: [later] })
    }
    expect(events).toMatchObject([
      { id: '1-6', data: { offset: 0, text: 'first\n' } },
      { event: 'attempt', id: '2-0', data: { attempt: 2, step_id: later.id } },
      { id: '2-7', data: { offset: 0, text: 'second\n' } },
      { event: 'end', id: '2-7', data: { status: 'completed' } },
    ])
    const resumed = await Array.fromAsync(follow(path, { 'Last-Event-ID': '2-3' }))
    expect(textOf(resumed)).toBe('ond\n')
  })

  test('the streams of a caller are limited', async () => {
    const { run, step, path } = await running({ output: 'x' })
    await storeLive(run, step.seq, Buffer.from('x'))
    const streams = Array.from({ length: 20 }, () => follow(path, {}, server.tokens.admin))
    await Promise.all(streams.map((stream) => stream.next()))
    const refused = await server.admin.get(`${path}?follow=true`)
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ code: 'too_many_requests' })
    const other = follow(path, {}, server.tokens.operator)
    expect((await other.next()).value).toMatchObject({ data: { text: 'x' } })
    await Promise.all([...streams, other].map((stream) => stream.return(undefined)))
    await endRun(server.runStore, run)
  })
})

describe('the log of a step without follow', () => {
  test('parts of it are read by offset and limit, or by Range', async () => {
    const { run, step, path } = await running()
    await storeLive(run, step.seq, Buffer.from('0123456789'))
    const live = await server.viewer.get(`${path}?offset=2&limit=3`)
    expect(live.status).toBe(200)
    expect(live.text).toBe('234')
    expect(live.headers).toMatchObject({ 'scanfarm-log': 'live', 'scanfarm-log-size': '10' })
    expect((await server.viewer.get(`${path}?offset=10`)).text).toBe('')
    const range = await server.viewer.get(path).set('Range', 'bytes=7-')
    expect([range.status, range.text, range.headers['content-range']]).toEqual([206, '789', 'bytes 7-9/10'])
    expect((await server.viewer.get(path).set('Range', 'bytes=10-')).status).toBe(416)
    await closeStep(run, step, { output: 'kept' })
    const kept = await server.viewer.get(path)
    expect([kept.text, kept.headers['scanfarm-log']]).toEqual(['kept', 'complete'])
    await endRun(server.runStore, run)
  })

  test('a part of it begins at a line', async () => {
    const { run, step, path } = await running()
    const lines = Array.from({ length: 40_000 }, (_, index) => `line ${index + 1}\n`)
    await storeLive(run, step.seq, Buffer.from(lines.join('')))
    const offsetOf = (line: number): number => lines.slice(0, line - 1).join('').length
    for (const line of [1, 2, 30_000, 40_000]) {
      const answer = await server.viewer.get(`${path}?line=${line}&limit=20`)
      expect(answer.text).toBe(
        lines
          .slice(line - 1, line + 5)
          .join('')
          .slice(0, 20),
      )
      expect(answer.headers['scanfarm-log-offset']).toBe(String(offsetOf(line)))
    }
    const after = await server.viewer.get(`${path}?line=40002`)
    expect([after.status, after.text]).toEqual([200, ''])
    expect(after.headers['scanfarm-log-offset']).toBe(after.headers['scanfarm-log-size'])
    for (const query of ['line=0', 'line=2&offset=1', 'line=2&follow=true'])
      expect((await server.viewer.get(`${path}?${query}`)).status).toBe(400)
    await endRun(server.runStore, run)
  })

  test('the worker is asked for an output that is longer than its row', async () => {
    const { run, step, path } = await running({ output: 'y'.repeat(16 * 1024) })
    const reading = server.viewer.get(path).then((answer) => answer)
    for (let followed = false; !followed;) {
      const { runs } = await server.runStore.heartbeat(run.workerId, 1)
      followed = runs[0]?.followed === true
    }
    await storeLive(run, step.seq, Buffer.from('everything'))
    expect((await reading).text).toBe('everything')
    await endRun(server.runStore, run)
  })
})

test('the output of a step whose worker was lost for good is all that the worker had stored', async () => {
  const { run, step, path } = await running({ output: 'reported\n' })
  const stored = `reported\n${'and stored\n'.repeat(20_000)}`
  await storeLive(run, step.seq, Buffer.from(stored))
  await endRun(server.runStore, run, { status: 'failed', errorMessage: 'its workers were lost' })
  const answer = await server.viewer.get(path)
  expect([answer.text === stored, answer.headers['scanfarm-log']]).toEqual([true, 'live'])
  const events = await Array.fromAsync(follow(path))
  expect(textOf(events) === stored).toBe(true)
  expect(events.at(-1)).toMatchObject({ event: 'end', data: { status: 'failed', size: stored.length } })
})

describe('GET /runs/{id}/log', () => {
  test('is what the workflow and the engine logged, live and complete', async () => {
    const { run } = await running()
    const path = `/api/runs/${run.runUuid}/log`
    expect((await server.viewer.get(path)).text).toBe('')
    const events: Event[] = []
    await storeLive(run, 'run', Buffer.from('begun\n'))
    for await (const event of follow(path)) {
      events.push(event)
      if (events.length > 1) continue
      const key = `${attemptPrefix(run.runUuid, run.attempt)}/${RUN_LOG_NAME}`
      await server.artifacts.put(key, Readable.from([Buffer.from('begun\ndone\n')]))
      await endRun(server.runStore, run, { status: 'failed', errorMessage: 'bad' })
    }
    expect(textOf(events)).toBe('begun\ndone\n')
    expect(events.at(-1)).toMatchObject({ event: 'end', data: { status: 'failed', size: 11 } })
    expect((await server.viewer.get(path)).text).toBe('begun\ndone\n')
    expect((await server.viewer.get('/api/runs/999999/log')).status).toBe(404)
    expect((await server.viewer.get(`${path}?limit=0`)).status).toBe(400)
  })
})
