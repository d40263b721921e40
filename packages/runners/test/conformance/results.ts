import { describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { alive, token } from '../processes.ts'
import { NEVER, see, sh, type Harness } from './harness.ts'
import { keptBytes } from './kept-bytes.ts'

const BIG = 100 * 1024 * 1024
/** Most bytes that reading may hold. */
const FLAT = BIG / 4

/** Exit codes, signals and output of a program. */
export function reportsResults(harness: Harness): void {
  describe('the results of a program', () => {
    test.each([0, 1, 42, 255])('exit code %i is reported unchanged', async (code) => {
      expect((await see(harness.runner, sh(`exit ${code}`))).outcome).toEqual({ kind: 'exited', code })
    })

    test('a death by signal is reported', async () => {
      const { outcome } = await see(harness.runner, sh('kill -TERM $$'))
      expect(outcome).toEqual(
        harness.subject.reportsSignals
          ? { kind: 'signalled', signal: 'SIGTERM' }
          : { kind: 'exited', code: 143 },
      )
    })

    test('each stream arrives complete and in order', async () => {
      const numbers = Array.from({ length: 2_000 }, (_, index) => index)
      const { stdout, stderr } = await see(
        harness.runner,
        sh('i=0; while [ $i -lt 2000 ]; do echo $i; echo $i >&2; i=$((i+1)); done'),
      )
      expect(stdout.trim().split('\n').map(Number)).toEqual(numbers)
      expect(stderr.trim().split('\n').map(Number)).toEqual(numbers)
    })

    test('output that ends without a line break is complete', async () => {
      expect((await see(harness.runner, sh('printf last'))).stdout).toBe('last')
    })

    test('bytes that are not UTF-8 arrive unchanged', async () => {
      const chunks: Buffer[] = []
      await harness.runner.run(sh("printf '\\377\\000\\200'"), {
        signal: NEVER,
        onOutput: (_, chunk) => void chunks.push(chunk),
      })
      expect(Buffer.concat(chunks)).toEqual(Buffer.from([0xff, 0, 0x80]))
    })

    test('100 MB pass in constant memory, and a slow receiver slows the program down', async () => {
      const gate = Promise.withResolvers<void>()
      let bytes = 0
      let finished = false
      let atEnd: number | undefined
      const before = keptBytes()
      const outcome = harness.runner.run(sh(`head -c ${BIG} /dev/zero; echo finished >&2`), {
        signal: NEVER,
        onOutput(stream, chunk) {
          if (stream === 'stderr') finished = true
          else bytes += chunk.length
          if (bytes > BIG * 0.95) atEnd ??= keptBytes()
          return gate.promise
        },
      })
      await until(() => bytes > 0)
      const first = bytes
      for (let index = 0; index < 3; index += 1) await see(harness.runner, sh('true'))
      expect({ bytes, finished }).toEqual({ bytes: first, finished: false })
      const whileWaiting = keptBytes()
      gate.resolve()
      expect(await outcome).toEqual({ kind: 'exited', code: 0 })
      expect({ bytes, finished }).toEqual({ bytes: BIG, finished: true })
      expect(whileWaiting - before).toBeLessThan(FLAT)
      expect(atEnd).toBeLessThan(before + FLAT)
    })

    test('a failing receiver ends the command and rejects', async () => {
      const word = token()
      const run = harness.runner.run(sh(`echo go; exec sleep ${word}`), {
        signal: NEVER,
        onOutput: () => Promise.reject(new Error('cannot receive')),
      })
      await expect(run).rejects.toThrow('cannot receive')
      expect(alive(word)).toEqual([])
    })
  })
}
