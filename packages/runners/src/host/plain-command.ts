/** Characters that mean themselves, and text in quotes in which nothing is replaced. */
const PIECE = String.raw`[\w@%+:,./=-]|'[^']*'|"[^"$\`\\]*"`
const WORD = new RegExp(`(?:${PIECE})+`, 'g')
const PLAIN = new RegExp(`^[ \t]*(?:${PIECE})+(?:[ \t]+(?:${PIECE})+)*[ \t]*$`)
const QUOTED = /(['"])(.*?)\1/gs

/**
 * First words of commands that a shell executes itself, or that are part of its syntax. `true` and `false` are programs
 * too, and differ only in what they print when asked for help or their version.
 */
const OF_SHELLS = new Set(
  `. : alias autoload bg bind break builtin caller case cd chdir command compgen complete compopt continue coproc declare
  dirs disown do done echo elif else enable esac eval exec exit export fc fg fi for function getopts hash help history if
  in jobs kill let local logout mapfile popd print printf pushd pwd read readarray readonly return select set
  shift shopt source suspend test then time times trap type typeset ulimit umask unalias unset until wait whence while`.split(
    /\s+/,
  ),
)

/** Programs that behave differently as leaders of their process group: one returns at once, one kills itself. */
const NOT_AS_LEADERS = /(?:^|\/)(?:setsid|timeout)$/

/** Longer texts are rare, and need much time and stack to be matched. */
const MOST_CHARS = 32_768

/**
 * The words of a shell command that consists of one program and its arguments. Without a shell it starts in half the
 * time, and no shell waits for its end. Undefined: it is no shell command, or a shell must read it.
 */
export function plainWords([program, option, text = '', ...more]: readonly string[]): string[] | undefined {
  if (program !== '/bin/sh' || option !== '-c' || more.length > 0) return undefined
  if (text.length > MOST_CHARS || !PLAIN.test(text)) return undefined
  const words = text.match(WORD) ?? []
  const [first = ''] = words
  if (/[='"]/.test(first) || OF_SHELLS.has(first)) return undefined
  const plain = words.map((word) => word.replaceAll(QUOTED, '$2'))
  return plain.some((word) => NOT_AS_LEADERS.test(word)) ? undefined : plain
}
