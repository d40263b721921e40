import { once, EventEmitter } from 'node:events'
import { expect, test } from '@jest/globals'
import { Loop, silentLogger, startLoops } from '../src/index.ts'

const NEVER_MS = 3_600_000

const counted = (turn: (count: number) => Promise<boolean | void>) => {
  const events = new EventEmitter()
  let count = 0
  return {
    events,
    count: () => count,
    turn: async () => {
      count += 1
      events.emit(String(count))
      return turn(count)
    },
  }
}

test('The first turn of a loop starts at once, the next one when the loop is woken', async () => {
  const { turn, events } = counted(async () => undefined)
  await using loop = new Loop({ name: 'x', intervalMs: NEVER_MS, turn, log: silentLogger })
  const first = once(events, '1')
  loop.start()
  await first
  const second = once(events, '2')
  loop.wake()
  await second
})

test('The timer starts the next turn of a loop', async () => {
  const { turn, events } = counted(async () => undefined)
  await using loop = new Loop({ name: 'x', intervalMs: 1, turn, log: silentLogger })
  const third = once(events, '3')
  loop.start()
  await third
})

test('A turn that reports more work is followed by the next one at once', async () => {
  const { turn, events } = counted(async (count) => count < 3)
  await using loop = new Loop({ name: 'x', intervalMs: NEVER_MS, turn, log: silentLogger })
  const third = once(events, '3')
  loop.start()
  await third
})

test('A loop that is woken during a turn runs exactly one more turn', async () => {
  const gate = Promise.withResolvers<void>()
  const { turn, events, count } = counted(async (n) => (n === 1 ? gate.promise : undefined))
  const loop = new Loop({ name: 'x', intervalMs: NEVER_MS, turn, log: silentLogger })
  loop.start()
  for (let i = 0; i < 5; i += 1) loop.wake()
  const second = once(events, '2')
  gate.resolve()
  await second
  await loop[Symbol.asyncDispose]()
  expect(count()).toBe(2)
})

test('The wait of a loop doubles after failures, and waking does not shorten it', async () => {
  const waits: unknown[] = []
  const log = { ...silentLogger, error: (_: string, fields = {}) => void waits.push(fields) }
  const { turn, events } = counted(async (n) => {
    if (n < 4) throw new Error('down')
  })
  await using loop = new Loop({
    name: 'x',
    intervalMs: NEVER_MS,
    turn,
    log,
    backoff: { firstMs: 5, mostMs: 15 },
  })
  events.on('2', () => loop.wake())
  const fourth = once(events, '4')
  loop.start()
  await fourth
  expect(waits).toMatchObject([{ retry_ms: 5 }, { retry_ms: 10 }, { retry_ms: 15 }])
})

test('Stopping a loop aborts its signal and waits for its turn', async () => {
  const seen: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const loop = new Loop({
    name: 'x',
    intervalMs: 1,
    log: silentLogger,
    turn: async (signal) => {
      resolve()
      await once(signal, 'abort')
      seen.push('turn ended')
    },
  })
  loop.start()
  await promise
  await loop[Symbol.asyncDispose]()
  expect(seen).toEqual(['turn ended'])
})

test('Of loops that are started together, only the urgent ones are woken', async () => {
  const [urgent, patient] = [counted(async () => undefined), counted(async () => undefined)]
  const first = Promise.all([once(urgent.events, '1'), once(patient.events, '1')])
  const loops = startLoops(
    [
      { name: 'urgent', intervalMs: NEVER_MS, isUrgent: true, turn: urgent.turn },
      { name: 'patient', intervalMs: NEVER_MS, turn: patient.turn },
    ],
    silentLogger,
  )
  await first
  const second = once(urgent.events, '2')
  loops.wake()
  await second
  await loops[Symbol.asyncDispose]()
  expect([urgent.count(), patient.count()]).toEqual([2, 1])
})
