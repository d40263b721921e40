import { fstatSync } from 'node:fs'
import { fileErrorText } from '@scanfarm/platform'
import { EXIT } from './exit.ts'

/** Where a command reads and writes, so that tests can look at it. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly err: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly in?: Input
}

export interface Input {
  /** A program or a file feeds it: nobody has to type. */
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

/** What a shell shows for a program that SIGPIPE ended. */
const EXIT_PIPE = 141

/**
 * The reader of a pipe has gone (`… | head`), or the output cannot be written. Commands that stop on a signal stop as on
 * SIGTERM, the others end at once.
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
