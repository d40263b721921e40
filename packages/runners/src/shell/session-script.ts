import { readFileSync } from 'node:fs'
import type { StopOptions } from '../interruption.ts'
import { MARKER_VARIABLE } from '../marker.ts'

/** Quotes a word for a POSIX shell. A NUL cannot be quoted. */
export const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Whether a shell variable can have this name. Shells may drop others, and only the arguments of `env` could set them. */
export const isShellName = (name: string): boolean => IDENTIFIER.test(name)

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** Defines the functions of a session. */
export const sessionFunctions = (): string =>
  `scanfarm_start=${quote(read('./start.sh'))}\n${read('./session.sh')}`

export interface SessionCommand {
  /** Random, begins with a control character; introduces the status lines of the shell. */
  readonly nonce: string
  readonly marker: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/**
 * Shell text that runs one command as leader of a session. All variables have names of shells, so that no value appears in a
 * command line.
 */
export function commandText({ nonce, marker, argv, env, cwd }: SessionCommand): string {
  const variables = Object.entries({ ...env, [MARKER_VARIABLE]: marker })
  const exports = variables.map(([name, value]) => `export ${name}=${quote(value)}`)
  const words = [nonce, cwd, argv[0] ?? '', ...argv].map(quote)
  const start = ['/bin/sh -c "$scanfarm_start" sh', ...words]
  return [
    'scanfarm_newest_pid; before=$newest',
    '(',
    ...exports,
    `exec $scanfarm_setsid ${start.join(' ')}`,
    ') </dev/null',
    `scanfarm_finish ${quote(nonce)} ${quote(marker)} "$before" $?\n`,
  ].join('\n')
}

const ROUND_MS = 50

const rounds = (ms: number): number => Math.ceil(ms / ROUND_MS)

export function killText(
  nonce: string,
  marker: string,
  leader: number,
  { graceMs, interrupts }: Required<StopOptions>,
): string {
  const names = [...(graceMs > 0 ? interrupts : [])].map(([name, ms]) =>
    quote(`${name}:${rounds(Math.max(graceMs, ms))}`),
  )
  const words = [quote(nonce), quote(marker), leader, rounds(graceMs), ...names]
  return `scanfarm_kill_all ${words.join(' ')} &\n`
}
