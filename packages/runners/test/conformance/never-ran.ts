import { describe, expect, test } from '@jest/globals'
import { PATH, see, sh, type Bench } from './bench.ts'

/** What is said of programs that never ran. */
export function whatNeverRan(bench: Bench): void {
  describe('what never ran', () => {
    test('a missing program is named', async () => {
      const { outcome, pid } = await see(bench.runner, {
        argv: ['scanfarm-no-such-program', 'x'],
        env: { PATH },
      })
      expect(outcome).toEqual({
        kind: 'not-started',
        reason: expect.stringContaining('scanfarm-no-such-program'),
      })
      expect(pid).toBeUndefined()
    })

    test('a missing folder is named', async () => {
      const { outcome } = await see(bench.runner, { ...sh('true'), cwd: '/no/such/folder' })
      expect(outcome).toEqual({ kind: 'not-started', reason: expect.stringContaining('/no/such/folder') })
    })

    test('a file that may not be executed is named', async () => {
      const { outcome } = await see(bench.runner, { argv: ['/etc/passwd'], env: { PATH } })
      expect(outcome).toEqual({ kind: 'not-started', reason: expect.stringContaining('/etc/passwd') })
    })

    test('a command that was cancelled before it began never runs', async () => {
      const { outcome, pid } = await see(bench.runner, sh('echo ran'), AbortSignal.abort())
      expect(outcome).toEqual({ kind: 'cancelled', killed: [] })
      expect(pid).toBeUndefined()
    })
  })
}
