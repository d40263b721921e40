import type { Runner } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { Firewall, Watch } from '../network/firewall.ts'
import type { Guard } from './guard.ts'
import type { RunPlace } from './run-place.ts'

interface RunnerGuard {
  readonly firewall: Firewall
  readonly guard: Guard
  readonly place: RunPlace
}

/** The same runner; the kernel sends no packet of its commands to a forbidden address. */
export const guardedRunner = (runner: Runner, { firewall, guard, place }: RunnerGuard): Runner => ({
  type: runner.type,
  facts: runner.facts,
  sharesFiles: runner.sharesFiles,
  async run(command, io) {
    const owner = await place.open()
    if (owner === undefined) return await runner.run(command, io)
    let watch: Watch | undefined
    try {
      watch = await firewall.begin(owner.uid, place, await guard.forbidden())
    } catch (error) {
      return { kind: 'not-started', reason: `its packets cannot be limited: ${errorText(error)}` }
    }
    const outcome = await runner.run(command, io)
    if (watch === undefined) return outcome
    try {
      const found = await watch.blocked()
      if (found.packets === 0) return outcome
      const blocked = await guard.blocked(found)
      return outcome.kind === 'exited' ? { ...outcome, blocked } : outcome
    } catch (error) {
      const blocked = `blocked: it is not known how many packets were not sent: ${errorText(error)}`
      return outcome.kind === 'exited' ? { ...outcome, blocked } : outcome
    }
  },
  push: (path, signal) => runner.push(path, signal),
  pull: (path, signal) => runner.pull(path, signal),
  [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
})
