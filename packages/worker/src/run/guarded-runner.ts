import { plural, type Runner } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { Watch } from '../network/blocked.ts'
import { LATE_S } from '../network/pacer.ts'
import type { Enforcement } from '../network/open-firewall.ts'
import type { Guard } from './guard.ts'
import type { WorkingDirectory } from './working-directory.ts'
import { withBlocked, type RunProxy } from './run-proxy.ts'

interface RunnerGuard {
  readonly enforcement: Enforcement | undefined
  readonly guard: Guard
  readonly directory: WorkingDirectory
  readonly proxy: RunProxy
  /** Resolves when the write buffer has capacity: until then no command starts. */
  capacity(): Promise<void>
}

/** Why packets of the commands of a runner are not fenced in by the kernel of this machine. */
const gapOf = (runner: Runner, enforcement: Enforcement | undefined): string | undefined => {
  if (runner.type !== 'host') return `it does not fence in commands of a ${runner.type} runner`
  return enforcement === undefined ? 'this process only checks targets' : enforcement.gap
}

const lateText = (late: number): string =>
  `${plural(late, 'connection')} waited for ${LATE_S} s or more for the limit, so the tool may have missed answers`

/**
 * The same runner; the kernel sends no packet of its commands to a forbidden address. Commands that it cannot fence in do
 * not start if a scope demands it.
 */
export const guardedRunner = (
  runner: Runner,
  { enforcement, guard, directory, proxy, capacity }: RunnerGuard,
): Runner => ({
  type: runner.type,
  facts: runner.facts,
  sharesFiles: runner.sharesFiles,
  async run(command, io) {
    await capacity()
    if (io.signal.aborted) return { kind: 'cancelled', killed: [] }
    const firewall = runner.type === 'host' ? enforcement?.firewall : undefined
    const owner = firewall && (await directory.open())
    const gap =
      gapOf(runner, enforcement) ?? (owner === undefined ? 'they have the user of this process' : undefined)
    const problem = gap === undefined ? undefined : await guard.unfenced(gap)
    if (problem !== undefined) return { kind: 'not-started', reason: problem }
    if (runner.type !== 'host') return await proxy.run(runner, command, io)
    if (firewall === undefined || owner === undefined) {
      proxy.passedBy(gap ?? 'its user is not known')
      return await proxy.run(runner, command, io)
    }
    let watch: Watch | undefined
    try {
      const proxyPort = (await proxy.open())?.port
      watch = await firewall.begin(owner.uid, directory, await guard.fence(), {
        ...(proxyPort !== undefined && { proxyPort }),
        rate: proxy.rate,
      })
    } catch (error) {
      return { kind: 'not-started', reason: `its packets cannot be limited: ${errorText(error)}` }
    }
    if (firewall.paceGap !== undefined) proxy.passedBy(firewall.paceGap)
    const outcome = await proxy.run(runner, command, io)
    if (watch === undefined) return outcome
    try {
      const found = await watch.blocked()
      const sent = found.packets === 0 ? outcome : withBlocked(outcome, await guard.blocked(found))
      return found.late === 0 ? sent : withBlocked(sent, lateText(found.late))
    } catch (error) {
      return withBlocked(outcome, `it is not known how many packets were not sent: ${errorText(error)}`)
    }
  },
  push: (path, signal) => runner.push(path, signal),
  pull: (path, signal) => runner.pull(path, signal),
  [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
})
