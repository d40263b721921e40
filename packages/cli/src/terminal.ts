import { fstatSync } from 'node:fs'
import { fileErrorText } from '@scanfarm/platform'
import { EXIT } from './exit.ts'

/** The streams and the environment of a command. Tests pass their own. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly err: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly in?: Input
}

export interface Input {
  /** The input comes from a program or a file, not from a keyboard. */
  readonly piped: boolean
  stream(): NodeJS.ReadableStream
}

const isPiped = (): boolean => {
  try {
    const facts = fstatSync(0)
    return facts.isFIFO() || facts.isFile() || facts.isSocket()
  } catch {
    return false
  }
}

export const processTerminal = (): Terminal => ({
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  in: { piped: isPiped(), stream: () => process.stdin },
})

/** Colours only on a terminal, and never where `NO_COLOR` is set. */
export const hasColours = ({ env, out }: Terminal): boolean => out.isTTY === true && !env.NO_COLOR

export const printLine = ({ out }: Terminal, line: string): void => void out.write(`${line}\n`)

/** The exit code that a shell reports for a program that SIGPIPE ended. */
const EXIT_PIPE = 141

/**
 * Ends the program when its output cannot be written, for example because the reader of a pipe has exited (`… | head`).
 * Commands that handle signals stop as on SIGTERM, others end at once.
 */
export const endWithoutOutput = (): void => {
  let ended = false
  const end = (error: NodeJS.ErrnoException): void => {
    if (ended) return
    ended = true
    const code = error.code === 'EPIPE' ? EXIT_PIPE : EXIT.failed
    if (code === EXIT.failed)
      process.stderr.write(`scanfarm: the output cannot be written: ${fileErrorText(error)}\n`)
    process.once('exit', () => {
      process.exitCode = code
    })
    if (process.listenerCount('SIGTERM') === 0) process.exit(code)
    process.kill(process.pid, 'SIGTERM')
  }
  process.stdout.on('error', end)
  process.stderr.on('error', end)
}
