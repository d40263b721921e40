import { readFileSync } from 'node:fs'
import { MARKER_VARIABLE } from '../marker.ts'
import { isShellName, quote } from './quote.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** What a shell is told first, so that it understands the rest. */
export const laneFunctions = (): string => `scanfarm_start=${quote(read('./start.sh'))}\n${read('./lane.sh')}`

export interface LaneCommand {
  /** Random, begins with a control character: what the shell has to say stands behind it. */
  readonly nonce: string
  readonly marker: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** Shell text that runs one command in a session of its own. Secrets stay off every command line. */
export function commandText({ nonce, marker, argv, env, cwd }: LaneCommand): string {
  const variables = Object.entries({ ...env, [MARKER_VARIABLE]: marker })
  const exports = variables.flatMap(([name, value]) =>
    isShellName(name) ? [`export ${name}=${quote(value)}`] : [],
  )
  const others = variables.flatMap(([name, value]) => (isShellName(name) ? [] : [quote(`${name}=${value}`)]))
  const words = [...(others.length > 0 ? ['"$scanfarm_env"', ...others] : []), ...argv.map(quote)]
  const start = ['/bin/sh -c "$scanfarm_start" sh', quote(nonce), quote(cwd), quote(argv[0] ?? ''), ...words]
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

export const killText = (nonce: string, marker: string, leader: number, graceMs: number): string =>
  `scanfarm_kill_all ${quote(nonce)} ${quote(marker)} ${leader} ${Math.ceil(graceMs / ROUND_MS)} &\n`
