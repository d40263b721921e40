import type { Command, CommandIo, Outcome, Runner } from '@scanfarm/contracts'

export interface Tracking {
  /** Environment that every command gets; its own variables win. */
  readonly env: Readonly<Record<string, string>>
  /** Resolves when the next command may start. */
  room(): Promise<void>
  /** Pids that a cancelled command left to be killed. */
  killed(pids: readonly number[]): void
}

/** The runner of a run as the workflow sees it: starts nothing while too much waits to be recorded. */
export function trackedRunner(runner: Runner, tracking: Tracking): Runner {
  return {
    type: runner.type,
    facts: runner.facts,
    sharesFiles: runner.sharesFiles,
    async run(command: Command, io: CommandIo): Promise<Outcome> {
      await tracking.room()
      if (io.signal.aborted) return { kind: 'cancelled', killed: [] }
      const outcome = await runner.run({ ...command, env: { ...tracking.env, ...command.env } }, io)
      if (outcome.kind === 'cancelled') tracking.killed(outcome.killed)
      return outcome
    },
    push: (path, signal) => runner.push(path, signal),
    pull: (path, signal) => runner.pull(path, signal),
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  }
}
