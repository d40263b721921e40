import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from '@jest/globals'
import type { Lane, LaneWatcher } from '../src/shell/lane.ts'
import { LanePool } from '../src/shell/lane-pool.ts'
import { openShell } from './local-shell.ts'

const NEVER = new AbortController().signal
const DEADLINE_MS = 10_000
const env = { PATH: '/usr/bin:/bin' }
const silent: LaneWatcher = { started: () => undefined, output: () => undefined }

const soon = async <T>(work: Promise<T>): Promise<T> =>
  await Promise.race([
    work,
    pause(DEADLINE_MS, undefined, { ref: false }).then(() => {
      throw new Error('still waiting')
    }),
  ])

const runs = (lane: Lane, ...argv: string[]) => lane.run({ marker: 'lane-pool', argv, env, cwd: '/' }, silent)

describe('a pool of shells', () => {
  let pool: LanePool | undefined
  afterEach(() => pool?.close())

  test('gives two shells that come back at the same moment to two waiters', async () => {
    pool = new LanePool(async () => openShell(), 2)
    const held = await Promise.all([pool.take(NEVER), pool.take(NEVER)])
    const waiting = [pool.take(NEVER), pool.take(NEVER)]
    for (const lane of held) pool.giveBack(lane)
    const lent = await soon(Promise.all(waiting))
    expect(new Set(lent)).toEqual(new Set(held))
    for (const lane of lent) expect(await soon(runs(lane, 'true'))).toMatchObject({ kind: 'ended', code: 0 })
  })

  test('passes over a waiter that aborts at the moment in which a shell comes back', async () => {
    pool = new LanePool(async () => openShell(), 1)
    const held = await pool.take(NEVER)
    const leaving = new AbortController()
    const first = pool.take(leaving.signal)
    const second = pool.take(NEVER)
    leaving.abort(new Error('left'))
    pool.giveBack(held)
    await expect(first).rejects.toThrow('left')
    expect(await soon(second)).toBe(held)
  })

  test('lends a shell to a caller whose signal aborts just after the shell was handed over', async () => {
    pool = new LanePool(async () => openShell(), 1)
    const held = await pool.take(NEVER)
    const leaving = new AbortController()
    const first = pool.take(leaving.signal)
    const second = pool.take(NEVER)
    pool.giveBack(held)
    leaving.abort(new Error('left'))
    pool.giveBack(await soon(first))
    expect(await soon(second)).toBe(held)
  })

  test('hands a slot on when no shell can be opened', async () => {
    let opened = 0
    pool = new LanePool(async () => {
      if (++opened <= 2) throw new Error('refused')
      return openShell()
    }, 1)
    const taken = await soon(Promise.allSettled([pool.take(NEVER), pool.take(NEVER), pool.take(NEVER)]))
    expect(taken.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })

  test('serves every waiter, never more at once than it may, while others leave the line', async () => {
    const most = 3
    const used = new LanePool(async () => openShell(), most)
    pool = used
    let lent = 0
    let highest = 0
    const outcomes = await soon(
      Promise.all(
        Array.from({ length: 90 }, async (_, index) => {
          const leaving = new AbortController()
          if (index % 3 === 0) setTimeout(() => leaving.abort(new Error('left')), index % 7)
          let lane: Lane
          try {
            lane = await used.take(leaving.signal)
          } catch {
            return 'left'
          }
          highest = Math.max(highest, ++lent)
          const { kind } = await runs(lane, 'true')
          lent -= 1
          used.giveBack(lane)
          return kind
        }),
      ),
    )
    expect(outcomes.filter((_, index) => index % 3 !== 0).every((kind) => kind === 'ended')).toBe(true)
    expect(outcomes).toContain('left')
    expect(highest).toBe(most)
    const again = await soon(Promise.all(Array.from({ length: most }, () => used.take(NEVER))))
    expect(new Set(again).size).toBe(most)
  })
})
