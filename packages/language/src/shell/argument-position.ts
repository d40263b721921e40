import type { CommandFrame } from './frames.ts'

type Position = Omit<CommandFrame<unknown>, 'script'>

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/))

export const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/

/**
 * Programs that run another program: flags, options with a value (which may be the next word), the number of operands
 * before the name of the other program, and whether assignments may be among them.
 */
const WRAPPERS: Readonly<
  Record<string, readonly [flags?: string, values?: string, operands?: number, assignments?: true]>
> = {
  builtin: [], exec: [], nohup: [], torify: [], torsocks: [], unbuffer: [],
  command: ['-p'], doas: ['-n', '-u'], ionice: ['-t', '-c -n'], nice: ['', '-n --adjustment'],
  proxychains: ['-q', '-f'], proxychains4: ['-q', '-f'], setsid: ['-c -f -w'], time: ['-p -v'],
  env: ['-i - --ignore-environment', '-u --unset -C --chdir', 0, true],
  sshpass: ['-e -v', '-p -f -d -P'],
  stdbuf: ['', '-i -o -e --input --output --error'],
  sudo: ['-n -E -H -S -b -k', '-u -g', 0, true],
  timeout: ['--foreground --preserve-status -v --verbose', '-k --kill-after -s --signal', 1],
} // prettier-ignore

/** Commands whose arguments are commands, code or variable names that the shell evaluates. */
export const RUNS_ARGUMENTS = words(
  'eval . source trap alias hash type coproc function select case [ [[ test let declare typeset local export readonly unset ' +
    'read mapfile readarray getopts enable fc bind complete compgen xargs parallel sem rush interlace watch entr find fd ssh sshpass ' +
    'su runuser pkexec setpriv chroot unshare nsenter flock script strace ltrace gdb perf valgrind taskset chrt numactl ' +
    'cgexec systemd-run firejail bwrap busybox toybox ip at batch crontab tmux screen docker podman nerdctl kubectl lxc-attach ' +
    'expect rlwrap start-stop-daemon daemonize setarch linux32 linux64 choom prlimit dbus-run-session xvfb-run ' +
    'gosu su-exec tini dumb-init s6-setuidgid faketime eatmydata fakeroot fakechroot nocache cpulimit trickle tsocks rr heaptrack ' +
    'gtime gtimeout timelimit softlimit chpst setlock hyperfine retry chronic ifne logsave pssh pdsh ansible mpirun srun sg runcon ' +
    'machinectl lxc vagrant osascript powershell axiom-exec',
)
const SHELL = /^(?:ba|rba|da|z|k|a|mk|tc|c|fi|pw)?sh$/

/** Programs with an option that runs a command or code; other arguments are data. */
const RUNS_OPTIONS = words(
  'sed gsed tar bsdtar zip git rsync scp sftp make gmake cmake ninja vi vim nvim view ex ed emacs less more most man wget sort split ' +
    'tcpdump socat nc ncat netcat openssl sqlite3 mysql psql m4 npm npx pnpm yarn pip pip3 go cargo gcc g++ cc ld mail sendmail ' +
    'install awk gawk mawk nawk jshell tclsh ffuf wfuzz nuclei sqlmap',
)
/** Interpreters: words after the name of a script are arguments of the script. */
const INTERPRETER =
  /^(?:python[\d.]*|pypy3?|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|java|Rscript|julia)$/

/** Maximum number of words of a command that are read. */
export const MAX_WORDS = 128

const PLAIN_NAME = /^~?[A-Za-z0-9_.\0/+-]+$/

export const baseName = (word: string): string => word.slice(word.lastIndexOf('/') + 1)

const optionKind = (flags: readonly string[], values: readonly string[], word: string) => {
  if (flags.includes(word)) return 'flag'
  if (values.includes(word)) return 'value'
  const [name = '', ...value] = word.split('=')
  if (value.length > 0 && name.startsWith('--')) return values.includes(name) ? 'flag' : undefined
  return /^-[^-]/.test(word) && values.includes(word.slice(0, 2)) ? 'flag' : undefined
}

/** The words from the name of the program that is executed; empty if it is uncertain. */
export const realCommand = (list: readonly string[]): readonly string[] => {
  const start = list.findIndex((word) => !ASSIGNMENT.test(word))
  let at = start === -1 ? list.length : start
  for (;;) {
    const name = baseName(list[at] ?? '')
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
    if (wrapper === undefined) return list.slice(at)
    const [flags = '', values = '', operands = 0, assignments = false] = wrapper
    for (at++; at < list.length; at++) {
      const word = list[at] ?? ''
      if (assignments && ASSIGNMENT.test(word)) continue
      if (!word.startsWith('-')) break
      const kind = optionKind(flags.split(' '), values.split(' '), word)
      if (kind === undefined || (kind === 'value' && /^$|\0/.test(list[++at] ?? ''))) return []
    }
    at += operands
  }
}

const FUNCTION = /(?<![\w.:+-])([\w.:+-]+)[ \t]*\([ \t]*\)|\bfunction[ \t]+([\w.:+-]+)/g

/** Functions that a command defines, before or after their use. */
export const functionsOf = (text: string): ReadonlySet<string> =>
  text.includes('(') || text.includes('function')
    ? new Set([...text.matchAll(FUNCTION)].map(([, name, named]) => name ?? named ?? ''))
    : new Set()

export type ArgumentPosition =
  /** Several words are several arguments. */
  | 'plain'
  /** The same, but an argument may be an option that runs code. */
  | 'options'
  /** Not a position of arguments, or one where they would be executed. */
  | 'none'

/** What several words would be at the current position. `functions` are those that the command defines. */
export const argumentPosition = (frame: Position, functions: ReadonlySet<string>): ArgumentPosition => {
  if (frame.reading !== undefined || !frame.isCommandWord) return 'none'
  if (frame.wordStarted && (frame.literal === undefined || ASSIGNMENT.test(frame.literal))) return 'none'
  const [first, , third] = frame.words
  // The words of a loop are the values of its variable.
  if (first === 'for') return third === 'in' ? 'plain' : 'none'
  const command = realCommand(frame.words.slice(0, MAX_WORDS))
  const [word = '', argument = ''] = command
  const name = baseName(word)
  if (!PLAIN_NAME.test(word) || /^$|\0/.test(name) || functions.has(word)) return 'none'
  if (RUNS_ARGUMENTS.has(name) || SHELL.test(name)) return 'none'
  if (RUNS_OPTIONS.has(name)) return 'options'
  if (INTERPRETER.test(name)) return followsScript(command) ? 'plain' : 'none'
  // Before the format, `-v` names a variable.
  if (name === 'printf') return command.length > 1 && argument !== '-v' ? 'plain' : 'options'
  return 'plain'
}

const followsScript = ([, first = '', second = '']: readonly string[]): boolean =>
  first === '-jar' || first === '-m'
    ? second !== '' && !second.startsWith('-')
    : first !== '' && !first.startsWith('-')

/** Builtins whose words are never options. */
const NO_OPTIONS = words(': [ [[ test true false')

/** The command of which a value at the beginning of the current word would be an option. */
export const optionOf = (
  text: string,
  frame: Position,
  functions: ReadonlySet<string>,
): string | undefined => {
  const { words: list } = frame
  if (!text.startsWith('-') || !frame.isCommandWord || frame.opener === 'array') return undefined
  if (list.every((word) => ASSIGNMENT.test(word)) || /^(?:for|select)$/.test(list[0] ?? '')) return undefined
  const command = realCommand(list)
  const [first = '', second = ''] = command
  const [name, last = ''] = [baseName(first), list.at(-1)]
  // Behind the -- of a program that runs another one, only the next word is no option.
  const isWrapped = first === '' || RUNS_ARGUMENTS.has(name)
  const isWord =
    NO_OPTIONS.has(name) ||
    functions.has(name) ||
    (name === 'echo' && !/^-[neE]+$/.test(text)) ||
    (name === 'printf' && second !== '' && second !== '-v') ||
    last === '--' ||
    (!isWrapped && command.includes('--')) ||
    (/^-./.test(last) && /^-\d+(?:\.\d+)?$/.test(text))
  return isWord ? undefined : /^\w[\w.+-]*$/.test(name) ? name : 'the command'
}
