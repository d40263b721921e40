import type { Command, CommandIo, Outcome, Runner } from '@scanfarm/contracts'

/** A runner that starts nothing while too much waits to be recorded: `room` resolves when the next command may. */
export const pacedRunner = (runner: Runner, room: () => Promise<void>): Runner => ({
  type: runner.type,
  facts: runner.facts,
  sharesFiles: runner.sharesFiles,
  async run(command: Command, io: CommandIo): Promise<Outcome> {
    await room()
    return io.signal.aborted ? { kind: 'cancelled', killed: [] } : runner.run(command, io)
  },
  push: (path, signal) => runner.push(path, signal),
  pull: (path, signal) => runner.pull(path, signal),
  [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
})
