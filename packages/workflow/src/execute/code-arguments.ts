import { textArg } from '../functions/define.ts'
import { joinedArgument, type Joined, type Part } from '../expression/joined.ts'
import type { Program } from '../expression/source.ts'
import { FUNCTIONS } from '../functions/registry.ts'
import { SHELL_COMMANDS } from '../functions/shell-commands.ts'
import type { Json } from '../model.ts'
import type { Variables } from '../template/evaluate.ts'
import { Text } from '../template/value.ts'
import { HARMLESS_TEXT } from '../shell/harmless.ts'
import { CODE_VARIABLE, SCRIPT_NAME } from '../shell/interpreters.ts'
import { UnsafePlaceError } from '../shell/lexer.ts'
import type { FilesRun } from '../shell/safety.ts'

/** Longer texts are not followed. */
const MAX_CHARS = 1 << 20

const LANGUAGES = ['exec_python', 'exec_ts', 'sed_string_replace', 'sed_regex_replace']

const nameOf = (called: string): string => FUNCTIONS.get(called)?.name ?? called

const isScript = (path: Json | undefined, filesRun: FilesRun): boolean => {
  const key = typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) : ''
  return key !== '' && (SCRIPT_NAME.test(key) || filesRun().has(key))
}

/** Which argument of a call is code, if one is. */
const codePosition = (name: string, args: readonly Json[], filesRun: FilesRun): number | undefined => {
  const shell = SHELL_COMMANDS.get(name)
  if (shell !== undefined) return shell
  if (LANGUAGES.includes(name)) return 0
  if (name === 'tmux_send') return 1
  if (name === 'save_content') {
    const isCode = isScript(args[1], filesRun) || (typeof args[0] === 'string' && args[0].startsWith('#!'))
    return isCode ? 0 : undefined
  }
  return name === 'os_setenv' && CODE_VARIABLE.test(textArg(args, 0)) ? 1 : undefined
}

const HARMLESS = /[A-Za-z0-9_.:/@%+,-]/
/** Of a value that is escaped for its place in the command. */
const MARK = /\uE000[^\uE001]*\uE001/y

/** Where a text may go on when it is read from `from` as pieces of these kinds, any number of them. */
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

/** Is the text what the author wrote, with nothing between his texts that may do harm? */
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

/** Refuses a call that would read a value as code: joined into a command, a program, or a file that is run. */
export const refuseJoined = (
  program: Program,
  called: string,
  args: readonly Json[],
  variables: Variables,
  filesRun: FilesRun,
): void => {
  const name = nameOf(called)
  const position = codePosition(name, args, filesRun)
  const text = position === undefined ? undefined : args[position]
  if (position === undefined || typeof text !== 'string') return
  if (isAuthors(text, joinedIn(program, name, position), variables)) return
  const instead = SHELL_COMMANDS.has(name)
    ? 'Write {{ }} around values in the text of the command: there they are escaped for their places.'
    : 'Save values to a file of their own, or set them with os_setenv, and let the code read them there.'
  throw new UnsafePlaceError(
    `${called}: a value becomes code in its argument ${position + 1}, where only ${HARMLESS_TEXT} may stand. ${instead}`,
  )
}

/** Did the author write the whole value of a variable of the environment? */
export const isAuthorsVariable = (program: Program, args: readonly Json[], variables: Variables): boolean =>
  typeof args[1] === 'string' && isAuthors(args[1], joinedIn(program, 'os_setenv', 1), variables)
