import { Argument, Command } from 'commander'
import { buildProgram } from '../program.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { COMMANDS } from './all.ts'

/** The words that may follow a command: its subcommands and options. */
interface Words {
  /** `schedules trigger`; "" for the program. */
  readonly path: string
  readonly words: readonly string[]
}

const namesOf = (command: Command): string[] => [command.name(), ...command.aliases()]

const wordsOf = (command: Command, path = ''): Words[] => {
  const children = command.commands.filter((child) => child.name() !== 'help')
  const options = command.options.flatMap(({ long, hidden }) =>
    hidden || long === undefined || long === null ? [] : [long],
  )
  const own = { path, words: [...children.flatMap(namesOf), ...options, '--help'] }
  const below = children.flatMap((child) =>
    namesOf(child).flatMap((name) => wordsOf(child, `${path} ${name}`.trim())),
  )
  return [own, ...below]
}

/** A line of a `case` of bash and zsh. Names of commands and options have nothing to quote. */
const caseOf = ({ path, words }: Words): string => `    '${path}') words='${words.join(' ')}' ;;`

const pathsOf = (all: readonly Words[]): string => all.map(({ path }) => `'${path}'`).join('|')

/** The longest known path of the words before the cursor, in `path`: options and their values do not belong to it. */
const FIND_PATH = (all: readonly Words[]): string => `  local path='' next word
  for word in "\${before[@]}"; do
    next="\${path:+$path }$word"
    case "$next" in ${pathsOf(all)}) path=$next ;; esac
  done
  case "$path" in
${all.map(caseOf).join('\n')}
  esac`

const bash = (all: readonly Words[]): string => `_scanfarm() {
  local words='' before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${FIND_PATH(all)}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _scanfarm scanfarm`

const zsh = (all: readonly Words[]): string => `#compdef scanfarm
_scanfarm() {
  local found before
  before=("\${(@)words[2,CURRENT-1]}")
  found=$(_scanfarm_words "\${before[@]}")
  compadd -- \${=found} || _files
}
_scanfarm_words() {
  local words='' before=("$@")
${FIND_PATH(all)}
  print -r -- "$words"
}
# A file of fpath is executed at the first completion; elsewhere the function is registered.
if [[ $funcstack[1] == _scanfarm ]]; then _scanfarm "$@"; else compdef _scanfarm scanfarm; fi`

const fish = (all: readonly Words[]): string => `function __scanfarm_words
  set -l path ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$path $word")
    switch $next
      case ${all.map(({ path }) => `'${path}'`).join(' ')}
        set path $next
    end
  end
  switch $path
${all.map(({ path, words }) => `    case '${path}'\n      printf '%s\\n' ${words.join(' ')}`).join('\n')}
  end
end
complete -c scanfarm -a '(__scanfarm_words)'`

const SHELLS = { bash, zsh, fish } as const

export const completionCommand = (terminal: Terminal): Command =>
  new Command('completion')
    .description('Print a script that completes commands and options: eval "$(scanfarm completion bash)"')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS) => {
      printLine(terminal, SHELLS[shell](wordsOf(await buildProgram([], terminal, COMMANDS))))
    })
