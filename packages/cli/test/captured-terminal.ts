import { Readable, Writable } from 'node:stream'
import { runProgram, type Terminal } from '../src/index.ts'

export interface CapturedTerminal extends Terminal {
  readonly stdout: () => string
  readonly stderr: () => string
}

const capture = (): { stream: Writable; text: () => string } => {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** Captures the output of a command without a terminal; `piped` is its standard input. */
export const captureTerminal = (
  env: Readonly<Record<string, string>> = {},
  piped?: string,
): CapturedTerminal => {
  const [out, err] = [capture(), capture()]
  return {
    env,
    out: out.stream,
    err: err.stream,
    ...(piped === undefined ? {} : { in: { piped: true, stream: () => Readable.from([piped]) } }),
    stdout: out.text,
    stderr: err.text,
  }
}

/** Runs a command, and returns its exit code and what it printed. */
export const runCaptured = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  piped?: string,
) => {
  const terminal = captureTerminal(env, piped)
  const code = await runProgram(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}
