import type { Command, Outcome, OutputStream, Runner, RunnerProvider, RunnerSpec } from '@scanfarm/contracts'

/** The runner under test, created once for the whole suite. */
export interface RunnerSubject extends AsyncDisposable {
  readonly provider: RunnerProvider
  readonly spec: RunnerSpec
  /** Folder of the folders of runs. */
  readonly root: string
  /** Variables that the image or host adds to every command. */
  readonly ambient: readonly string[]
  /** False if a death by signal is only reported as an exit code above 128. */
  readonly reportsSignals: boolean
  /** True if a command runs in another pid namespace. */
  readonly hidesPids?: boolean
}

/** What the tests of a part use; its fields are set before the first test. */
export interface Harness {
  readonly subject: RunnerSubject
  readonly runner: Runner
  /** The run's folder. */
  readonly folder: string
  /** Another runner, as for another attempt. */
  open(workspace?: string): Promise<Runner>
}

interface Seen {
  readonly outcome: Outcome
  readonly stdout: string
  readonly stderr: string
  readonly pid: number | undefined
}

export const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
export const NEVER = new AbortController().signal

export const sh = (script: string, ...args: string[]): Command => ({
  argv: ['sh', '-c', script, 'sh', ...args],
  env: { PATH },
})

export async function see(runner: Runner, command: Command, signal: AbortSignal = NEVER): Promise<Seen> {
  const chunks: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] }
  let pid: number | undefined
  const outcome = await runner.run(command, {
    signal,
    onOutput: (stream, chunk) => void chunks[stream].push(chunk),
    onStart: (started) => (pid = started),
  })
  const text = (stream: OutputStream): string => Buffer.concat(chunks[stream]).toString()
  return { outcome, stdout: text('stdout'), stderr: text('stderr'), pid }
}

/** Runs a command until its output holds `word`, then cancels it. */
export async function cancelAfter(runner: Runner, command: Command, word: string): Promise<Outcome> {
  const cancel = new AbortController()
  let seen = ''
  return await runner.run(command, {
    signal: cancel.signal,
    onOutput(_, chunk) {
      seen += chunk.toString()
      if (seen.includes(word)) cancel.abort()
    },
  })
}
