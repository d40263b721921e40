/** Programs that read code, and the position of the code in their command line. */
export interface Interpreter {
  /** The word after such an option, or the text attached to it, is code. */
  readonly code?: RegExp
  /** The word after such an option is the path of a file of code. */
  readonly file?: RegExp
  /** Options with a value that is not code. */
  readonly skip?: RegExp
  /** `script`: the first operand names a file of code; `code`: it is code; `codes`: every operand is; `none`: none is. */
  readonly operand: 'script' | 'code' | 'codes' | 'none'
  /** Without code in the command line, the standard input is code. */
  readonly stdin: boolean
  /** The code is a shell script, which the lexer can follow. */
  readonly shell: boolean
}

const SHELL: Interpreter = {
  code: /^-[A-Za-z]*c[A-Za-z]*$/,
  file: /^--(?:rcfile|init-file)$/,
  skip: /^[-+][A-Za-z]*[oO]$/,
  operand: 'script',
  stdin: true,
  shell: true,
}
const language = (code: RegExp, skip?: RegExp, file?: RegExp): Interpreter => ({
  code,
  ...(skip === undefined ? {} : { skip }),
  ...(file === undefined ? {} : { file }),
  operand: 'script',
  stdin: true,
  shell: false,
})
const AWK: Interpreter = {
  code: /^(?:-e|--source)$/,
  file: /^(?:-f|--file|-E|--exec|-i|--include|-l|--load)$/,
  skip: /^(?:-v|-F|--assign|--field-separator)$/,
  operand: 'code',
  stdin: false,
  shell: false,
}
const SED: Interpreter = {
  code: /^(?:-[nrsuzE]*e|--expression)$/,
  file: /^(?:-[nrsuzE]*f|--file)$/,
  skip: /^(?:-l|--line-length)$/,
  operand: 'code',
  stdin: false,
  shell: false,
}
const DATABASE: Interpreter = {
  code: /^(?:-c|-e|-cmd|--command|--execute)$/,
  file: /^(?:-f|-init|--file)$/,
  skip: /^-[hpUudDPWv]$/,
  operand: 'codes',
  stdin: true,
  shell: false,
}
const STDIN: Interpreter = {
  file: /^(?:-f|--file)$/,
  skip: /^-[qtu]$/,
  operand: 'codes',
  stdin: true,
  shell: false,
}

const KNOWN: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(?:ba|da|z|k|pdk|mk|a|fi|tc|c|rba|ya)?sh$/, SHELL],
  [/^(?:su|runuser|sg|script|flock|interlace)$/, { ...SHELL, operand: 'none', stdin: false }],
  [/^python[\d.]*$|^pypy[\d.]*$/, { ...language(/^-[A-Za-z]*c$/, /^-[WX]$/), file: /^-m$/ }],
  [/^perl[\d.]*$/, language(/^-[A-Za-z0-9]*[eEMmF]$/, /^-[ITx]$/)],
  [/^ruby[\d.]*$/, language(/^-[a-zA-Z]*e$/, /^-[rICE]$/)],
  [/^(?:node|nodejs|bun|deno|ts-node|tsx)$/, language(/^(?:-e|-p|-pe|--eval|--print|eval)$/, /^(?:-r|--require|--import|-C)$/)],
  [/^php[\d.]*$/, language(/^-[rBRE]$/, /^-[cd]$/, /^-[fF]$/)],
  [/^lua(?:jit)?[\d.]*$/, language(/^-e$/, /^-l$/)],
  [/^Rscript$|^R$/, language(/^-e$/, undefined, /^-f$/)],
  [/^(?:pwsh|powershell)$/, language(/^-(?:c|Command|e|EncodedCommand)$/i, /^-ExecutionPolicy$/i, /^-(?:f|File)$/i)],
  [/^(?:tclsh[\d.]*|expect)$/, language(/^-c$/, undefined, /^-f$/)],
  [/^osascript$|^gnuplot$/, language(/^-e$/)],
  [/^(?:g|m|n)?awk$/, AWK],
  [/^g?sed$/, SED],
  [/^(?:psql|mysql|mariadb|sqlite3?|duckdb)$/, DATABASE],
  [/^(?:at|batch|crontab|dc|m4|ed|ex|vim?|nvim|gdb|make|gmake|parallel|rush)$/, STDIN],
] // prettier-ignore

export const baseName = (word: string): string => word.slice(word.lastIndexOf('/') + 1)

export const interpreterOf = (word: string): Interpreter | undefined =>
  KNOWN.find(([name]) => name.test(baseName(word)))?.[1]

/** Tools that never run their arguments as a command; any other program may, like `timeout 5 sh -c …`. */
const PLAIN: ReadonlySet<string> = new Set(
  `[ test echo printf cat tac head tail cut tr sort uniq wc grep egrep fgrep rg comm diff join paste tee cp mv rm ln ls
  mkdir rmdir touch chmod chown stat file du df which type hash dirname basename realpath readlink sleep true false cd
  pwd pushd popd jq yq curl wget date seq expr apt apt-get apk dnf yum pip pip3 npm go git unzip zip tar gzip gunzip
  base64 md5sum sha1sum sha256sum kill pkill pgrep ps id whoami hostname export set shift return exit local readonly
  declare typeset read unset wait break continue let alias trap eval source . anew nmap masscan httpx nuclei subfinder`.split(
    /\s+/,
  ),
)

export const takesNoCommand = (word: string): boolean => PLAIN.has(baseName(word))

/** Programs that run their arguments as a command, so that a word of unknown content may be a shell. */
const WRAPPERS: ReadonlySet<string> = new Set(
  `env sudo doas timeout nice ionice nohup setsid stdbuf unbuffer time command exec builtin chroot unshare nsenter busybox
  toybox taskset strace ltrace proxychains proxychains4 torsocks xargs find systemd-run coproc flock watch at`.split(
    /\s+/,
  ),
)

export const runsCommand = (word: string): boolean => WRAPPERS.has(baseName(word))

/** Environment variables that shells and other programs read as code or as paths of code. */
export const CODE_VARIABLE =
  /^(?:PS[0-4]|PROMPT_COMMAND|ENV|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|PATH|IFS|PYTHONSTARTUP|PYTHONPATH|PERL5OPT|PERL5LIB|PERL5DB|RUBYOPT|RUBYLIB|NODE_OPTIONS|NODE_PATH|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_PAGER|GIT_EDITOR|GIT_ASKPASS|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|RSYNC_RSH|SSH_ASKPASS|TAR_OPTIONS|MAKEFLAGS|AWKPATH|LUA_INIT|LUA_C?PATH|GCONV_PATH|GIT_(?:SEQUENCE_EDITOR|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG\w*)|PYTHON(?:HOME|BREAKPOINT)|PERLLIB|MAKEFILES|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GOFLAGS|RSYNC_CONNECT_PROG|PSQLRC|S?RANDOM|OPTIND|HISTCMD|SECONDS)$/

/** Arguments that other programs run in a shell. */
export const CODE_ARGUMENT =
  /^-?-?o?(?:ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand)\b|--checkpoint-action|--to-command|--use-compress-program|--rsh=|--rsync-path=|^(?:EXEC|SYSTEM|SHELL):|,(?:exec|system)=|core\.(?:sshCommand|pager|editor|fsmonitor)=|alias\.[^=]*=!/i

/** Options of other programs whose value is a command or the name of one. */
const CODE_OPTIONS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:g|bsd)?tar$/, /^(?:-I|-F|--(?:to-c|use-c|checkpoint-a|info-s|new-v|rsh|rmt)[\w-]*)/],
  [/^(?:ssh|slogin|scp|sftp|autossh|sshfs)$/, /^-(?:o|F|S)(?=$|["'S])/],
  [/^rsync$/, /^(?:-[A-Za-z]*e|--rsh|--rsync-path)/],
  [/^git$/, /^(?:-c|-u|--upload-pack|--receive-pack|--exec|--config-env|--config|--open-files-in-pager)/],
  [/^g?sort$/, /^--compress-p[\w-]*/],
  [/^env$/, /^(?:-[A-Za-z0-9]*S|--split-string)/],
  [/^(?:nc|ncat)$/, /^(?:-e|-c|--exec|--sh-exec|--lua-exec)/],
  [/^wget$/, /^(?:--use-askpass|-e|--execute)/],
  [/^split$/, /^--filter/],
  [/^zip$/, /^(?:-TT|--unzip-command)/],
  [/^tcpdump$/, /^-z/],
  [/^ffuf$/, /^--?input-(?:cmd|shell)/],
  [/^(?:docker|podman|nerdctl)$/, /^--entrypoint/],
] // prettier-ignore

export const codeOptionOf = (word: string): RegExp | undefined =>
  CODE_OPTIONS.find(([name]) => name.test(baseName(word)))?.[1]

/** Settings of git that are commands. */
export const GIT_COMMAND =
  /^(?:alias|core\.(?:sshcommand|pager|editor|fsmonitor|hookspath|gitproxy|askpass)|.*(?:helper|textconv|command|driver|cmd|clean|smudge|process|editor|program)$)/i

/** Programs in these languages that start a shell with their input or arguments. */
const STARTS_SHELL: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(?:g|m|n)?awk$/,
    /\bsystem\s*\(|\|&?\s*getline\b|\bprintf?\b[^|;}\n"]*(?:"[^"]*"[^|;}\n"]*)*\|&?\s*["\w]/,
  ],
  [/^g?sed$/, /^["']?\d*e\b|[^\w\s][gpI\d]*e["']?$/],
  [/^perl[\d.]*$/, /\bsystem\b|\bqx\b|`|\bexec\b|\beval\s*[($@"]/],
  [/^python[\d.]*$/, /\bos\.(?:system|popen)\b|\bshell\s*=\s*True|(?<![\w.])(?:eval|exec)\s*\(/],
  [/^ruby[\d.]*$/, /\bsystem\b|`|\bexec\b|\beval\b|%x/],
  [/^(?:node|nodejs|bun)$/, /\bexec(?:Sync)?\s*\(|\beval\s*\(/],
  [/^php[\d.]*$/, /\b(?:shell_exec|system|exec|passthru|popen|eval)\s*\(|`/],
]

export const startsShell = (name: string, program: string): boolean =>
  STARTS_SHELL.some(([of, code]) => of.test(name) && code.test(program))

/** Names of files that always count as executed. */
export const SCRIPT_NAME =
  /\.(?:sh|bash|zsh|ksh|dash|py|pl|rb|js|mjs|cjs|php|lua|awk|tcl|exp|ps1|bat|cmd)$|^(?:\.?(?:bash|zsh)?rc|\.(?:bash|z)?profile|\.bash_(?:login|logout|aliases)|\.zshenv|profile|authorized_keys|crontab|Makefile|makefile)$/
