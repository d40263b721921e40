import type { Piece } from '../template/value.ts'
import { codeSink, readCodeSinks, type CodeSink, type CommandAnalysis } from './code-sinks.ts'
import { UnsafeContextError } from './lexer.ts'
import { placeholder, withNames } from './placeholders.ts'

/** Maximum number of cached analyses; the oldest are evicted first. */
const MAX_KEPT = 2_000
/** Longer commands are not cached. */
const MAX_KEPT_CHARS = 16_384

const kept = new Map<string, CommandAnalysis>()

/** The analysis of a command, cached by its text without the values. */
const analysisOf = (skeleton: string): CommandAnalysis => {
  const known = kept.get(skeleton)
  if (known !== undefined) return known
  const analysis = readCodeSinks(skeleton)
  if (skeleton.length > MAX_KEPT_CHARS) return analysis
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(skeleton, analysis)
  return analysis
}

const isAuthors = ({ origin }: Piece): boolean => origin === 'author'

/** The command with a placeholder for each value. */
const skeletonOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece, index) => (isAuthors(piece) ? piece.text : placeholder(index))).join('')

export const INSTEAD = `Pass it as an argument, as in sh -c '… "$1"' sh {{x}} or sh script.sh {{x}}, or in an environment variable that the code reads`

/** The message for a value that would become code. */
export const refusal = (name: string, place: string): string =>
  `${name} becomes code in ${place}, where only ${HARMLESS_TEXT} are allowed. ${INSTEAD}.`

/** Files that other commands of the workflow execute, by the last part of their paths. */
export type FilesRun = () => Pick<ReadonlySet<string>, 'has'>

/** The environment in which a command runs. */
export interface CommandEnvironment {
  readonly filesRun: FilesRun
  /** Environment variables with values. */
  readonly env: Readonly<Record<string, string>>
}

export const EMPTY_ENVIRONMENT: CommandEnvironment = { filesRun: () => new Set<string>(), env: {} }

const sinkOf = (
  { sinks, written }: CommandAnalysis,
  index: number,
  name: (at: number) => string,
  filesRun: FilesRun,
): CodeSink | undefined => {
  const sink = sinks.get(index)
  if (sink?.depth === Infinity) return sink
  const file = written.find(
    ({ values, key }) => values.includes(index) && filesRun().has(withNames(key, name)),
  )
  return file === undefined ? sink : codeSink(`the script ${withNames(file.key, name)}`)
}

const refuse = (name: string, text: string, nesting: number, sink: CodeSink | undefined): void => {
  if (sink === undefined) return
  if (sink.option !== undefined) {
    if (sink.option.test(text))
      throw new UnsafeContextError(`${name} is an option that runs a command here. Write -- or ./ before it.`)
    return
  }
  if (nesting >= sink.depth) return
  const ends = [...sink.alsoHarmful].some((char) => text.includes(char))
  if (!isHarmless(text) || ends) throw new UnsafeContextError(refusal(name, sink.place))
}

/** Values of letters and digits need no check. */
const needsCheck = (text: string): boolean => !/^\w*$/.test(text)

/**
 * Refuses a command that would read one of its values or environment variables as code. `nestings` is the number of
 * nested scripts for which the lexer has escaped each value.
 */
export const refuseCode = (
  pieces: readonly Piece[],
  nestings: readonly number[],
  { filesRun, env }: CommandEnvironment,
): void => {
  const checked = pieces.flatMap((piece, index) =>
    isAuthors(piece) || !needsCheck(piece.text) ? [] : [index],
  )
  const variables = Object.entries(env).filter(([name, text]) => needsCheck(text) && mentions(pieces, name))
  if (checked.length === 0 && variables.length === 0) return
  const analysis = analysisOf(skeletonOf(pieces))
  const name = (at: number): string => pieces[at]?.name ?? 'value'
  for (const index of checked) {
    const { text = '' } = pieces[index] ?? {}
    const sink = sinkOf(analysis, index, name, filesRun)
    // Values of type `args` may be options.
    if (sink?.option !== undefined && pieces[index]?.origin === 'args') continue
    refuse(`{{${name(index)}}}`, text, nestings[index] ?? 0, sink)
  }
  for (const [variable, text] of variables) refuse(`$${variable}`, text, 0, analysis.variables.get(variable))
}

const mentions = (pieces: readonly Piece[], name: string): boolean =>
  pieces.some((piece) => isAuthors(piece) && piece.text.includes(name))

/** The files that a command executes, with `{{name}}` in place of values. */
export const filesRunBy = (pieces: readonly Piece[]): string[] =>
  [...analysisOf(skeletonOf(pieces)).run].map((key) => withNames(key, (at) => pieces[at]?.name ?? 'value'))

/** The sinks of each value of a command, for the checker. */
export const codeSinksOf = (pieces: readonly Piece[], filesRun: FilesRun): ReadonlyMap<number, CodeSink> => {
  const analysis = analysisOf(skeletonOf(pieces))
  const name = (at: number): string => pieces[at]?.name ?? 'value'
  const found = pieces.flatMap((piece, index): [number, CodeSink][] => {
    const sink = isAuthors(piece) ? undefined : sinkOf(analysis, index, name, filesRun)
    return sink === undefined || sink.option !== undefined ? [] : [[index, sink]]
  })
  return new Map(found)
}

/** Characters without a meaning to any known shell or interpreter, however often they are read. */
const HARMLESS = /^(?:[A-Za-z0-9_.:/@%+,][A-Za-z0-9_.:/@%+,-]*)?$/

/** Whether a value is safe where an interpreter reads code. A leading `-` would make it an option. */
export const isHarmless = (text: string): boolean => HARMLESS.test(text)

export const HARMLESS_TEXT = 'letters, digits and _ . : / @ % + , - (not first)'
