/** Characters that mean themselves, and text in quotes in which nothing is replaced. */
const PIECE = String.raw`[\w@%+:,./=-]|'[^']*'|"[^"$\`\\]*"`
const WORD = new RegExp(`(?:${PIECE})+`, 'g')
const PLAIN = new RegExp(`^[ \t]*(?:${PIECE})+(?:[ \t]+(?:${PIECE})+)*[ \t]*$`)
const QUOTED = /(['"])(.*?)\1/gs

/**
 * First words of commands that a shell executes itself, or that are part of its syntax, and `setsid`, which returns at
 * once if the shell is not between it and its session. `true` and `false` are programs too, which do the same.
 */
const OF_SHELLS = new Set(
  `. : alias autoload bg bind break builtin caller case cd chdir command compgen complete compopt continue coproc declare
  dirs disown do done echo elif else enable esac eval exec exit export fc fg fi for function getopts hash help history if
  in jobs kill let local logout mapfile popd print printf pushd pwd read readarray readonly return select set setsid shift
  shopt source suspend test then time times trap type typeset ulimit umask unalias unset until wait whence while`.split(
    /\s+/,
  ),
)

/**
 * The words of a shell command that consists of one program and its arguments. Without a shell it starts in half the
 * time, and no shell waits for its end. Undefined: it is no shell command, or a shell must read it.
 */
export function plainWords([program, option, text = '', ...more]: readonly string[]): string[] | undefined {
  if (program !== '/bin/sh' || option !== '-c' || more.length > 0 || !PLAIN.test(text)) return undefined
  const [first = '', ...words] = text.match(WORD) ?? []
  if (/[='"]/.test(first) || OF_SHELLS.has(first)) return undefined
  return [first, ...words.map((word) => word.replaceAll(QUOTED, '$2'))]
}
