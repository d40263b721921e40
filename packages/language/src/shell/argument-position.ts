import type { CommandFrame } from './frames.ts'

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/))

export const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/

/** A program that runs another program: its options, and the number of operands before the other program's name. */
interface Wrapper {
  readonly flags: ReadonlySet<string>
  /** Options with a value, which may be the next word. */
  readonly values: ReadonlySet<string>
  readonly operands: number
  readonly assignments: boolean
}

const wrapper = (flags: string, values = '', operands = 0, assignments = false): Wrapper => ({
  flags: words(flags),
  values: words(values),
  operands,
  assignments,
})

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map([
  ['builtin', wrapper('')],
  ['command', wrapper('-p')],
  ['doas', wrapper('-n', '-u')],
  ['env', wrapper('-i - --ignore-environment', '-u --unset -C --chdir', 0, true)],
  ['exec', wrapper('')],
  ['ionice', wrapper('-t', '-c -n')],
  ['nice', wrapper('', '-n --adjustment')],
  ['nohup', wrapper('')],
  ['proxychains', wrapper('-q', '-f')],
  ['proxychains4', wrapper('-q', '-f')],
  ['setsid', wrapper('-c -f -w')],
  ['stdbuf', wrapper('', '-i -o -e --input --output --error')],
  ['sudo', wrapper('-n -E -H -S -b -k', '-u -g', 0, true)],
  ['time', wrapper('-p -v')],
  ['timeout', wrapper('--foreground --preserve-status -v --verbose', '-k --kill-after -s --signal', 1)],
  ['torify', wrapper('')],
  ['torsocks', wrapper('')],
  ['unbuffer', wrapper('')],
])

/** Commands whose arguments are commands, code or variable names that the shell evaluates. */
const RUNS_ARGUMENTS = words(
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

/** Maximum number of words that are searched for the name of the command. */
const WORDS_SEEN = 64

const PLAIN_NAME = /^~?[A-Za-z0-9_./+-]+$/

const baseName = (word: string): string => word.slice(word.lastIndexOf('/') + 1)

const isOption = ({ flags, values }: Wrapper, word: string): 'flag' | 'value' | undefined => {
  if (flags.has(word)) return 'flag'
  if (values.has(word)) return 'value'
  const [name = '', ...value] = word.split('=')
  if (value.length > 0 && name.startsWith('--')) return values.has(name) ? 'flag' : undefined
  return /^-[^-]/.test(word) && values.has(word.slice(0, 2)) ? 'flag' : undefined
}

/** The words after the wrapper's own ones; empty if they cannot be distinguished from the other command. */
const behind = (of: Wrapper, args: readonly string[]): readonly string[] => {
  let at = 0
  for (; at < args.length; at++) {
    const word = args[at] ?? ''
    if (of.assignments && ASSIGNMENT.test(word)) continue
    if (!word.startsWith('-')) break
    const kind = isOption(of, word)
    if (kind === undefined) return []
    if (kind === 'value' && (args[++at] ?? '') === '') return []
  }
  return args.slice(at + of.operands)
}

/** The words from the name of the program that is executed; empty if it is uncertain. */
const realCommand = (list: readonly string[]): readonly string[] => {
  const start = list.findIndex((word) => !ASSIGNMENT.test(word))
  let rest = start === -1 ? [] : list.slice(start)
  for (;;) {
    const of = WRAPPERS.get(baseName(rest[0] ?? ''))
    if (of === undefined) return rest
    rest = [...behind(of, rest.slice(1))]
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
export const argumentPosition = (frame: CommandFrame, functions: ReadonlySet<string>): ArgumentPosition => {
  if (frame.comment || frame.reading !== undefined || frame.redirection) return 'none'
  if (!['body', undefined].includes(frame.cases.at(-1))) return 'none'
  if (frame.wordStarted && (frame.literal === undefined || ASSIGNMENT.test(frame.literal))) return 'none'
  const [first, , third] = frame.words
  // The words of a loop are the values of its variable.
  if (first === 'for') return third === 'in' ? 'plain' : 'none'
  const command = realCommand(frame.words.slice(0, WORDS_SEEN))
  const [word = '', argument = ''] = command
  const name = baseName(word)
  if (!PLAIN_NAME.test(word) || name === '' || functions.has(word)) return 'none'
  if (RUNS_ARGUMENTS.has(name) || SHELL.test(name)) return 'none'
  if (RUNS_OPTIONS.has(name)) return 'options'
  if (INTERPRETER.test(name)) return followsScript(command) ? 'plain' : 'options'
  // Before the format, `-v` names a variable.
  if (name === 'printf') return command.length > 1 && argument !== '-v' ? 'plain' : 'options'
  return 'plain'
}

const followsScript = ([, first = '', second = '']: readonly string[]): boolean =>
  first === '-jar' || first === '-m'
    ? second !== '' && !second.startsWith('-')
    : first !== '' && !first.startsWith('-')
