import { describe, expect, test } from '@jest/globals'
import { PATH, see, sh, type Harness } from './harness.ts'

/** Reasons of commands that never ran. */
export function reportsFailedStarts(harness: Harness): void {
  describe('a command that cannot start', () => {
    test('is reported with the missing program', async () => {
      const { outcome, pid } = await see(harness.runner, {
        argv: ['scanfarm-no-such-program', 'x'],
        env: { PATH },
      })
      expect(outcome).toEqual({
        kind: 'not-started',
        reason: expect.stringContaining('scanfarm-no-such-program'),
      })
      expect(pid).toBeUndefined()
    })

    test('is reported with the missing folder', async () => {
      const { outcome } = await see(harness.runner, { ...sh('true'), cwd: '/no/such/folder' })
      expect(outcome).toEqual({ kind: 'not-started', reason: expect.stringContaining('/no/such/folder') })
    })

    test('is reported with the file that is not executable', async () => {
      const { outcome } = await see(harness.runner, { argv: ['/etc/passwd'], env: { PATH } })
      expect(outcome).toEqual({ kind: 'not-started', reason: expect.stringContaining('/etc/passwd') })
    })

    test('is reported with a variable that could only be set in a command line', async () => {
      const { outcome, stdout } = await see(harness.runner, {
        argv: ['env'],
        env: { PATH, 'TOKEN.OF.TOOL': 'secret' },
      })
      if (harness.subject.spec.type === 'host') expect(stdout).toContain('TOKEN.OF.TOOL=secret')
      else
        expect(outcome).toEqual({ kind: 'not-started', reason: expect.stringContaining('"TOKEN.OF.TOOL"') })
    })

    test('never runs if it was cancelled before', async () => {
      const { outcome, pid } = await see(harness.runner, sh('echo ran'), AbortSignal.abort())
      expect(outcome).toEqual({ kind: 'cancelled', killed: [] })
      expect(pid).toBeUndefined()
    })
  })
}
