import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from '@jest/globals'
import type { ShellSession, CommandObserver } from '../src/shell/shell-session.ts'
import { SessionPool } from '../src/shell/session-pool.ts'
import { openShell } from './local-shell.ts'

const NEVER = new AbortController().signal
const DEADLINE_MS = 100_000
const env = { PATH: '/usr/bin:/bin' }
const silent: CommandObserver = { started: () => undefined, output: () => undefined }

const soon = async <T>(work: Promise<T>): Promise<T> =>
  await Promise.race([
    work,
    pause(DEADLINE_MS, undefined, { ref: false }).then(() => {
      throw new Error('still waiting')
    }),
  ])

const runs = (session: ShellSession, ...argv: string[]) =>
  session.run({ marker: 'session-pool', argv, env, cwd: '/' }, silent)

describe('a pool of shell sessions', () => {
  let pool: SessionPool | undefined
  afterEach(() => pool?.close())

  test('gives two sessions that are released at the same moment to two waiters', async () => {
    pool = new SessionPool(async () => openShell(), 2)
    const held = await Promise.all([pool.acquire(NEVER), pool.acquire(NEVER)])
    const waiting = [pool.acquire(NEVER), pool.acquire(NEVER)]
    for (const session of held) pool.release(session)
    const lent = await soon(Promise.all(waiting))
    expect(new Set(lent)).toEqual(new Set(held))
    for (const session of lent)
      expect(await soon(runs(session, 'true'))).toMatchObject({ kind: 'ended', code: 0 })
  })

  test('skips a waiter that aborts at the moment of a release', async () => {
    pool = new SessionPool(async () => openShell(), 1)
    const held = await pool.acquire(NEVER)
    const leaving = new AbortController()
    const first = pool.acquire(leaving.signal)
    const second = pool.acquire(NEVER)
    leaving.abort(new Error('left'))
    pool.release(held)
    await expect(first).rejects.toThrow('left')
    expect(await soon(second)).toBe(held)
  })

  test('gives a session to a caller whose signal aborts just after the release', async () => {
    pool = new SessionPool(async () => openShell(), 1)
    const held = await pool.acquire(NEVER)
    const leaving = new AbortController()
    const first = pool.acquire(leaving.signal)
    const second = pool.acquire(NEVER)
    pool.release(held)
    leaving.abort(new Error('left'))
    pool.release(await soon(first))
    expect(await soon(second)).toBe(held)
  })

  test('passes a slot on when no shell can be opened', async () => {
    let opened = 0
    pool = new SessionPool(async () => {
      if (++opened <= 2) throw new Error('refused')
      return openShell()
    }, 1)
    const taken = await soon(
      Promise.allSettled([pool.acquire(NEVER), pool.acquire(NEVER), pool.acquire(NEVER)]),
    )
    expect(taken.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })

  test('serves every waiter within its limit while others abort', async () => {
    const most = 3
    const used = new SessionPool(async () => openShell(), most)
    pool = used
    let lent = 0
    let highest = 0
    const outcomes = await soon(
      Promise.all(
        Array.from({ length: 90 }, async (_, index) => {
          const leaving = new AbortController()
          if (index % 3 === 0) setTimeout(() => leaving.abort(new Error('left')), index % 7)
          let session: ShellSession
          try {
            session = await used.acquire(leaving.signal)
          } catch {
            return 'left'
          }
          highest = Math.max(highest, ++lent)
          const { kind } = await runs(session, 'true')
          lent -= 1
          used.release(session)
          return kind
        }),
      ),
    )
    expect(outcomes.filter((_, index) => index % 3 !== 0).every((kind) => kind === 'ended')).toBe(true)
    expect(outcomes).toContain('left')
    expect(highest).toBe(most)
    const again = await soon(Promise.all(Array.from({ length: most }, () => used.acquire(NEVER))))
    expect(new Set(again).size).toBe(most)
  })
})
