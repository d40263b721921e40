import { describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { alive, token } from '../processes.ts'
import { cancelAfter, NEVER, see, sh, type Harness } from './harness.ts'

/** All processes that a command started end with it. */
export function leavesNoProcesses(harness: Harness): void {
  describe('no process remains', () => {
    const runaways: Record<string, (word: string) => string> = {
      'a child': (word) => `sleep ${word} & echo go; wait`,
      'a child that was forked twice': (word) => `( ( sleep ${word} & ) & ); echo go; sleep 1000`,
      'a child that ignores TERM': (word) => `trap '' TERM; sleep ${word} & echo go; wait`,
      'a child that leads its own session': (word) => `setsid sleep ${word} & echo go; sleep 1000`,
      'a daemon: forked twice, own session, no output, TERM ignored': (word) =>
        `( trap '' TERM; setsid sh -c 'sleep ${word} & exec sleep ${word}' </dev/null >/dev/null 2>&1 & ); echo go; sleep 1000`,
    }

    test.each(Object.entries(runaways))('of a cancelled command: %s', async (_, script) => {
      const word = token()
      const outcome = await cancelAfter(harness.runner, { ...sh(script(word)), graceMs: 200 }, 'go')
      expect(outcome.kind).toBe('cancelled')
      expect(alive(word)).toEqual([])
    })

    test('of a command that ended: a child in the background', async () => {
      const word = token()
      const { outcome, stdout } = await see(harness.runner, sh(`sleep ${word} & echo go`))
      expect({ outcome, stdout }).toEqual({ outcome: { kind: 'exited', code: 0 }, stdout: 'go\n' })
      expect(alive(word)).toEqual([])
    })

    test('of a command that ended: a child in another session that holds its output open', async () => {
      const word = token()
      const { outcome } = await see(harness.runner, sh(`setsid sleep ${word} & echo go; exit 7`))
      expect(outcome).toEqual({ kind: 'exited', code: 7 })
      expect(alive(word)).toEqual([])
    })

    test('of a command that ended: a child in another session with many variables', async () => {
      const word = token()
      const { argv, env } = sh(`setsid sleep ${word} </dev/null >/dev/null 2>&1 & exit 7`)
      const variables = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`V${index}`, 'value']))
      const other = await harness.open()
      await see(other, { argv, env: { ...variables, ...env } })
      await other[Symbol.asyncDispose]()
      expect(alive(word)).toEqual([])
    })

    test('of a closed runner: a daemon of a command that ended', async () => {
      const word = token()
      const other = await harness.open()
      await see(other, sh(`setsid sleep ${word} </dev/null >/dev/null 2>&1 & echo go`))
      await other[Symbol.asyncDispose]()
      expect(alive(word)).toEqual([])
    })

    test('of a closed runner: a running command', async () => {
      const word = token()
      const other = await harness.open()
      const outcome = other.run({ ...sh(`sleep ${word}; true`), graceMs: 100 }, { signal: NEVER })
      await until(() => alive(word).length > 0)
      await other[Symbol.asyncDispose]()
      expect((await outcome).kind).toBe('cancelled')
      expect(alive(word)).toEqual([])
    })

    test('the output of a process that ends shortly after its command is complete', async () => {
      const { stdout } = await see(harness.runner, sh('( sleep 0.1; echo late ) & echo early'))
      expect(stdout).toBe('early\nlate\n')
    })
  })
}
