import { existsSync, readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A program that can be the launcher. */
export interface LauncherProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Gives up new privileges itself, when this is its last argument. */
  readonly privilegesArgument?: string
}

/** Limits of every command. */
export interface CommandBounds {
  /** umask of commands, like `007`; missing: that of this program. */
  readonly umask?: string
  /** Most processes and threads of the user of the commands; missing: the limit of this program. */
  readonly processes?: number
  /** Commands gain no privileges by setuid programs and file capabilities. */
  readonly noNewPrivileges?: boolean
}

/** Most open files of a command, unless the system allows fewer. */
const MOST_FILES = 65_536
/**
 * Shells differ in the option for processes. `$1`: umask, `$2`: processes, `$3`: the limits of open files that are too
 * high; each may be empty.
 */
const BIND = `ulimit -c 0
for kind in $3; do ulimit -$kind -n ${MOST_FILES}; done
[ -z "$1" ] || umask "$1"
[ -z "$2" ] || ulimit -u "$2" || ulimit -p "$2"
shift 3
exec "$@"`

/** A shell would start a process for each limit that it reads. */
const highLimits = (): string => {
  const [, soft, hard] =
    /^Max open files +(\w+) +(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const isHigh = (limit = ''): boolean => !(Number(limit) <= MOST_FILES)
  return `${isHigh(soft) ? 'S' : ''} ${isHigh(hard) ? 'H' : ''}`
}

/** The program with limits that its commands inherit. A shell sets them and then executes the program. */
export const bounded = (
  { command, args, env, privilegesArgument }: LauncherProgram,
  { umask = '', processes = 0, noNewPrivileges = false }: CommandBounds,
): LauncherProgram => {
  const isHelped = noNewPrivileges && privilegesArgument === undefined
  return {
    command: '/bin/sh',
    args: [
      '-c',
      BIND,
      'sh',
      umask,
      processes === 0 ? '' : String(processes),
      highLimits(),
      ...(isHelped ? ['setpriv', '--no-new-privs'] : []),
      command,
      ...args,
    ],
    env,
    ...(noNewPrivileges && privilegesArgument !== undefined && { privilegesArgument }),
  }
}

const PERL = '/usr/bin/perl'
/** For which launcher.pl knows the numbers of system calls. */
const PERL_ARCHITECTURES: readonly string[] = ['x64', 'arm64']
/** Fewer threads and a small young generation: less memory to copy for each fork. */
const NODE_FLAGS = ['--single-threaded', '--max-semi-space-size=1', '--disable-warning=ExperimentalWarning']

const nodeProgram = (): LauncherProgram => {
  const cache = getCompileCacheDir()
  return {
    command: process.execPath,
    args: [...NODE_FLAGS, fileURLToPath(new URL('./launcher.ts', import.meta.url))],
    // The folder of this version of Node is in the one that the variable names.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
  }
}

const perlProgram = (): LauncherProgram => ({
  command: PERL,
  args: [fileURLToPath(new URL('./launcher.pl', import.meta.url))],
  // Otherwise each new process looks up the functions of the C library again.
  env: { LD_BIND_NOW: '1' },
  privilegesArgument: 'no-new-privileges',
})

/** In order of preference: each is a fallback for the one before. */
export function launcherPrograms(choice: 'perl' | 'node' | undefined): LauncherProgram[] {
  const hasPerl = existsSync(PERL) && PERL_ARCHITECTURES.includes(process.arch)
  const perl = choice !== 'node' && hasPerl ? [perlProgram()] : []
  return choice === 'perl' ? perl : [...perl, nodeProgram()]
}
