import { describe, expect, test } from '@jest/globals'
import { alive, token, until } from '../processes.ts'
import { cancelAfter, see, sh, type Bench } from './bench.ts'

/** No machine takes longer to begin a command. */
const LONGEST_START_MS = 10_000

/** Time limits and cancels. */
export function stopMeansStop(bench: Bench): void {
  describe('stop means stop', () => {
    test('a command that takes too long is killed and its pids are reported', async () => {
      const word = token()
      const run = (timeoutMs: number) => see(bench.runner, { ...sh(`exec sleep ${word}`), timeoutMs })
      let timeoutMs = 200
      let seen = await run(timeoutMs)
      // The limit may end the wait for a place or a busy machine before the command has begun.
      for (; seen.pid === undefined && timeoutMs < LONGEST_START_MS; seen = await run(timeoutMs)) {
        expect(seen.outcome.kind).toBe('timed-out')
        timeoutMs *= 4
      }
      expect(seen.outcome).toEqual({ kind: 'timed-out', killed: expect.arrayContaining([seen.pid]) })
      expect(await alive(word)).toEqual([])
    })

    test('a cancelled command is killed and its pids are reported', async () => {
      const word = token()
      const outcome = await cancelAfter(bench.runner, sh(`sleep ${word} & echo go; wait`), 'go')
      expect(outcome).toEqual({ kind: 'cancelled', killed: expect.anything() })
      expect(outcome.kind === 'cancelled' && outcome.killed.length).toBeGreaterThanOrEqual(2)
      expect(await alive(word)).toEqual([])
    })

    test('TERM comes first, and what is said on it still arrives', async () => {
      const cancel = new AbortController()
      let seen = ''
      const outcome = await bench.runner.run(
        { ...sh("trap 'echo bye; exit 3' TERM; echo go; while :; do sleep 0.05; done"), graceMs: 60_000 },
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

    test('a command that was cancelled while it was being started leaves nothing', async () => {
      const word = token()
      const cancel = new AbortController()
      const outcome = bench.runner.run(sh(`exec sleep ${word}`), { signal: cancel.signal })
      cancel.abort()
      expect((await outcome).kind).toBe('cancelled')
      expect(await alive(word)).toEqual([])
    })

    test('two commands run at once, and cancelling one leaves the other alone', async () => {
      const word = token()
      const cancel = new AbortController()
      const other = see(bench.runner, sh(`echo go; sleep ${word} && echo unreached`), cancel.signal)
      await until(async () => (await alive(word)).length > 0)
      expect((await cancelAfter(bench.runner, sh('echo go; sleep 1000'), 'go')).kind).toBe('cancelled')
      expect(await alive(word)).not.toEqual([])
      expect((await see(bench.runner, sh('echo mine'))).stdout).toBe('mine\n')
      cancel.abort()
      expect(await other).toMatchObject({ outcome: { kind: 'cancelled' }, stdout: 'go\n' })
    })
  })
}
