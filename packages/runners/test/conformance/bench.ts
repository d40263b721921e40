import type { Command, Outcome, OutputStream, Runner, RunnerProvider, RunnerSpec } from '@scanfarm/contracts'

/** One place to run commands, made once for the whole suite. */
export interface RunnerSubject extends AsyncDisposable {
  readonly provider: RunnerProvider
  readonly spec: RunnerSpec
  /** Folder in which the suite makes the folders of its runs. */
  readonly root: string
  /** Variables which the place itself gives to every command. */
  readonly ambient: readonly string[]
  /** False where the place tells a death by signal only as an exit code above 128. */
  readonly tellsSignals: boolean
  /** True where a command has another pid for itself than on this machine. */
  readonly hidesPids?: boolean
}

/** What the tests of a part work with; filled before the first of them begins. */
export interface Bench {
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
