import { FUNCTIONS } from '@scanfarm/functions'
import type { Joined, Part, Program, Json, Variables } from '@scanfarm/language'
import { joinedArgument, SHELL_COMMANDS, Text, HARMLESS_TEXT, UnsafeContextError } from '@scanfarm/language'

/** Longer texts are refused without analysis. */
const MAX_CHARS = 1 << 20

const LANGUAGES = ['exec_python', 'exec_ts', 'sed_string_replace', 'sed_regex_replace']

const nameOf = (called: string): string => FUNCTIONS.get(called)?.name ?? called

/** Index of the argument that is executed as code, if any. */
const codePosition = (name: string): number | undefined => {
  if (LANGUAGES.includes(name)) return 0
  return name === 'tmux_send' ? 1 : SHELL_COMMANDS.get(name)
}

const HARMLESS = /[A-Za-z0-9_.:/@%+,-]/
/** Placeholder of a value that `ShellValues` escapes later. */
const MARK = /\uE000[^\uE001]*\uE001/y

/** All positions reachable from `from` by any number of harmless characters, placeholders and `texts`. */
const reach = (text: string, from: ReadonlySet<number>, texts: readonly string[]): Set<number> => {
  const reached = new Set(from)
  const open = [...from]
  const add = (at: number) => {
    if (reached.has(at)) return
    reached.add(at)
    open.push(at)
  }
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (HARMLESS.test(text[at] ?? '')) add(at + 1)
    MARK.lastIndex = at
    const mark = MARK.exec(text)
    if (mark !== null) add(at + mark[0].length)
    for (const piece of texts) if (piece !== '' && text.startsWith(piece, at)) add(at + piece.length)
  }
  return reached
}

/** Whether the text consists of the author's text with only harmless characters between. */
const isMadeOf = (
  text: string,
  parts: readonly Part[],
  texts: readonly string[],
  variables: Variables,
): boolean => {
  let at: Set<number> = new Set([0])
  for (const part of parts) {
    const own =
      part.kind === 'text' ? part.text : part.kind === 'name' ? authorsText(variables, part.name) : undefined
    if (own !== undefined)
      at = new Set([...at].filter((from) => text.startsWith(own, from)).map((from) => from + own.length))
    else
      at = reach(
        text,
        at,
        part.kind === 'unknown' || (part.kind === 'name' && !isKnown(variables, part.name)) ? texts : [],
      )
  }
  return at.has(text.length)
}

const isKnown = (variables: Variables, name: string): boolean => variables.get(name) !== undefined

const authorsText = (variables: Variables, name: string): string | undefined => {
  const value = variables.get(name)
  return value instanceof Text && value.pieces.every(({ origin }) => origin === 'author')
    ? value.toString()
    : undefined
}

const isAuthors = (text: string, { ways, texts }: Joined, variables: Variables): boolean =>
  text.length <= MAX_CHARS && ways.some((parts) => isMadeOf(text, parts, texts, variables))

const joinedIn = ({ code }: Program, name: string, position: number): Joined =>
  joinedArgument(code, new Set([...FUNCTIONS.keys()].filter((other) => nameOf(other) === name)), position)

/** Refuses calls in which a value would be executed as code, in a command or a program. */
export const refuseJoined = (
  program: Program,
  called: string,
  args: readonly Json[],
  variables: Variables,
): void => {
  const name = nameOf(called)
  const position = codePosition(name)
  const text = position === undefined ? undefined : args[position]
  if (position === undefined || typeof text !== 'string') return
  if (isAuthors(text, joinedIn(program, name, position), variables)) return
  const instead = SHELL_COMMANDS.has(name)
    ? 'Use {{ }} for values in the text of the command: they are escaped there.'
    : 'Save values in a separate file, or set them with os_setenv, and let the code read them.'
  throw new UnsafeContextError(
    `${called}: a value becomes code in argument ${position + 1}, where only ${HARMLESS_TEXT} is allowed. ${instead}`,
  )
}
