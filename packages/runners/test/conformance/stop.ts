import { describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { alive, token } from '../processes.ts'
import { cancelAfter, see, sh, type Harness } from './harness.ts'

/** Every machine starts a command within this time. */
const LONGEST_START_MS = 10_000

/** Time limits and cancellation. */
export function stopsCommands(harness: Harness): void {
  describe('a stopped command', () => {
    test('is killed at its time limit, and its pids are reported', async () => {
      const word = token()
      const run = (timeoutMs: number) => see(harness.runner, { ...sh(`exec sleep ${word}`), timeoutMs })
      let timeoutMs = 200
      let seen = await run(timeoutMs)
      // On a busy machine the limit may pass before the command has started.
      for (; seen.pid === undefined && timeoutMs < LONGEST_START_MS; seen = await run(timeoutMs)) {
        expect(seen.outcome.kind).toBe('timed-out')
        timeoutMs *= 4
      }
      expect(seen.outcome).toEqual({ kind: 'timed-out', killed: expect.arrayContaining([seen.pid]) })
      expect(alive(word)).toEqual([])
    })

    test('is killed on cancel, and its pids are reported', async () => {
      const word = token()
      const outcome = await cancelAfter(harness.runner, sh(`sleep ${word} & echo go; wait`), 'go')
      expect(outcome).toEqual({ kind: 'cancelled', killed: expect.anything() })
      expect(outcome.kind === 'cancelled' && outcome.killed.length).toBeGreaterThanOrEqual(2)
      expect(alive(word)).toEqual([])
    })

    test('receives TERM first, and its output after TERM still arrives', async () => {
      const cancel = new AbortController()
      let seen = ''
      const outcome = await harness.runner.run(
        // A process that a shell has just forked would still have its trap: only another program says go.
        { ...sh("trap 'echo bye; exit 3' TERM; sh -c 'echo go; exec sleep 600' & wait"), graceMs: 60_000 },
        {
          signal: cancel.signal,
          onOutput(stream, chunk) {
            if (stream === 'stdout') seen += chunk.toString()
            if (seen === 'go\n') cancel.abort()
          },
        },
      )
      expect(outcome.kind).toBe('cancelled')
      expect(seen).toBe('go\nbye\n')
    })

    test('receives TERM once', async () => {
      const cancel = new AbortController()
      let seen = ''
      // The second program, which ignores TERM, says go.
      const script = `trap 'echo TERM' TERM; (trap '' TERM; exec sh -c 'echo go; exec sleep 600') & while :; do wait; done`
      const outcome = await harness.runner.run(
        { ...sh(script), graceMs: 500 },
        {
          signal: cancel.signal,
          onOutput(stream, chunk) {
            if (stream === 'stdout') seen += chunk.toString()
            if (seen === 'go\n') cancel.abort()
          },
        },
      )
      expect(outcome.kind).toBe('cancelled')
      expect(seen).toBe('go\nTERM\n')
    })

    test('leaves no process if it was cancelled during its start', async () => {
      const word = token()
      const cancel = new AbortController()
      const outcome = harness.runner.run(sh(`exec sleep ${word}`), { signal: cancel.signal })
      cancel.abort()
      expect((await outcome).kind).toBe('cancelled')
      expect(alive(word)).toEqual([])
    })

    test('does not affect concurrent commands', async () => {
      const word = token()
      const cancel = new AbortController()
      const other = see(harness.runner, sh(`echo go; sleep ${word} && echo unreached`), cancel.signal)
      await until(() => alive(word).length > 0)
      expect((await cancelAfter(harness.runner, sh('echo go; sleep 1000'), 'go')).kind).toBe('cancelled')
      expect(alive(word)).not.toEqual([])
      expect((await see(harness.runner, sh('echo mine'))).stdout).toBe('mine\n')
      cancel.abort()
      expect(await other).toMatchObject({ outcome: { kind: 'cancelled' }, stdout: 'go\n' })
    })
  })
}
