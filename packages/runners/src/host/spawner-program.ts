import { existsSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { fileURLToPath } from 'node:url'

/** One of the programs that can be the small process. */
export interface SpawnerProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** What every command is bound by. */
export interface CommandBounds {
  /** Permissions that files of commands do not get unless a command says so, as `007`; missing: as this program. */
  readonly umask?: string
  /** Most processes and threads of the user that commands run as; missing: as this program. */
  readonly processes?: number
}

/** Most open files of a command, unless the system allows fewer. */
const MOST_FILES = 65_536
/** Shells differ in the letter for processes. `$1`: umask, `$2`: processes, each may be empty. */
const BIND = `ulimit -c 0
for kind in S H; do
  now=$(ulimit -\${kind}n)
  [ "$now" != unlimited ] && [ "$now" -le ${MOST_FILES} ] || ulimit -$kind -n ${MOST_FILES}
done
[ -z "$1" ] || umask "$1"
[ -z "$2" ] || ulimit -u "$2" || ulimit -p "$2"
shift 2
exec "$@"`

/** The same program with bounds that its commands inherit; a small shell sets them and is replaced by it. */
export const bounded = (
  { command, args, env }: SpawnerProgram,
  { umask = '', processes = 0 }: CommandBounds,
): SpawnerProgram => ({
  command: '/bin/sh',
  args: ['-c', BIND, 'sh', umask, processes === 0 ? '' : String(processes), command, ...args],
  env,
})

const PERL = '/usr/bin/perl'
/** Fewer threads and a small young heap: less memory to copy for each command. */
const NODE_FLAGS = ['--single-threaded', '--max-semi-space-size=1', '--disable-warning=ExperimentalWarning']

const nodeProgram = (): SpawnerProgram => {
  const cache = getCompileCacheDir()
  return {
    command: process.execPath,
    args: [...NODE_FLAGS, fileURLToPath(new URL('./spawner.ts', import.meta.url))],
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
  }
}

const perlProgram = (): SpawnerProgram => ({
  command: PERL,
  args: [fileURLToPath(new URL('./spawner.pl', import.meta.url))],
  env: {},
})

/** Best first; the next one is for a system where the one before does not start. */
export function spawnerPrograms(choice: 'perl' | 'node' | undefined): SpawnerProgram[] {
  const perl = choice !== 'node' && existsSync(PERL) ? [perlProgram()] : []
  return choice === 'perl' ? perl : [...perl, nodeProgram()]
}
