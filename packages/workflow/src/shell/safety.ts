import type { Piece } from '../template/value.ts'
import { codeAt, readFeeds, type Feed, type Reading } from './feeds.ts'
import { HARMLESS_TEXT, isHarmless } from './harmless.ts'
import { UnsafePlaceError } from './lexer.ts'
import { markOf, namedMarks } from './marks.ts'

/** Commands whose reading is kept; the oldest go first. */
const MAX_KEPT = 2_000
/** Longer ones are read each time. */
const MAX_KEPT_CHARS = 16_384

const kept = new Map<string, Reading>()

/** What a command does with its values; remembered by its text, whatever the values are. */
const readingOf = (skeleton: string): Reading => {
  const known = kept.get(skeleton)
  if (known !== undefined) return known
  const reading = readFeeds(skeleton)
  if (skeleton.length > MAX_KEPT_CHARS) return reading
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(skeleton, reading)
  return reading
}

const isAuthors = ({ origin }: Piece): boolean => origin === 'author'

/** The command with a mark for each value. */
const skeletonOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece, index) => (isAuthors(piece) ? piece.text : markOf(index))).join('')

export const INSTEAD = `Hand it over as an argument, as in sh -c '… "$1"' sh {{x}} or sh script.sh {{x}}, or in an environment variable that the code reads`

/** Says why a value cannot stand where it becomes code, and what to do. */
export const refusal = (name: string, place: string): string =>
  `${name} becomes code in ${place}, where only ${HARMLESS_TEXT} may stand. ${INSTEAD}.`

/** Files that other commands of the workflow run, by the last part of their paths. */
export type FilesRun = () => Pick<ReadonlySet<string>, 'has'>

/** What a command finds where it runs. */
export interface Around {
  readonly filesRun: FilesRun
  /** Variables of the environment that hold values. */
  readonly env: Readonly<Record<string, string>>
}

export const NOTHING_AROUND: Around = { filesRun: () => new Set<string>(), env: {} }

const feedOf = (
  { feeds, written }: Reading,
  index: number,
  name: (at: number) => string,
  filesRun: FilesRun,
): Feed | undefined => {
  const feed = feeds.get(index)
  if (feed?.depth === Infinity) return feed
  const file = written.find(
    ({ values, key }) => values.includes(index) && filesRun().has(namedMarks(key, name)),
  )
  return file === undefined ? feed : codeAt(`the script ${namedMarks(file.key, name)}`)
}

const refuse = (name: string, text: string, nesting: number, feed: Feed | undefined): void => {
  if (feed === undefined) return
  if (feed.option !== undefined) {
    if (feed.option.test(text))
      throw new UnsafePlaceError(`${name} is an option that runs a command here. Write -- or ./ before it.`)
    return
  }
  if (nesting >= feed.depth) return
  const ends = [...feed.alsoHarmful].some((char) => text.includes(char))
  if (!isHarmless(text) || ends) throw new UnsafePlaceError(refusal(name, feed.place))
}

/** Letters and digits are harmless anywhere. */
const isLooked = (text: string): boolean => !/^\w*$/.test(text)

/**
 * Refuses a command that would read as code one of its values, or a variable of its environment. `nestings` says for
 * how many scripts in scripts the lexer has escaped each value.
 */
export const refuseCode = (
  pieces: readonly Piece[],
  nestings: readonly number[],
  { filesRun, env }: Around,
): void => {
  const looked = pieces.flatMap((piece, index) => (isAuthors(piece) || !isLooked(piece.text) ? [] : [index]))
  const variables = Object.entries(env).filter(([name, text]) => isLooked(text) && mentions(pieces, name))
  if (looked.length === 0 && variables.length === 0) return
  const reading = readingOf(skeletonOf(pieces))
  const name = (at: number): string => pieces[at]?.name ?? 'value'
  for (const index of looked) {
    const { text = '' } = pieces[index] ?? {}
    const feed = feedOf(reading, index, name, filesRun)
    // Options are what the type args is for.
    if (feed?.option !== undefined && pieces[index]?.origin === 'args') continue
    refuse(`{{${name(index)}}}`, text, nestings[index] ?? 0, feed)
  }
  for (const [variable, text] of variables) refuse(`$${variable}`, text, 0, reading.variables.get(variable))
}

const mentions = (pieces: readonly Piece[], name: string): boolean =>
  pieces.some((piece) => isAuthors(piece) && piece.text.includes(name))

/** The files that a command runs, `{{name}}` in place of values. */
export const filesRunBy = (pieces: readonly Piece[]): string[] =>
  [...readingOf(skeletonOf(pieces)).run].map((key) => namedMarks(key, (at) => pieces[at]?.name ?? 'value'))

/** What becomes of each value of a command, for the checker. */
export const feedsOf = (pieces: readonly Piece[], filesRun: FilesRun): ReadonlyMap<number, Feed> => {
  const reading = readingOf(skeletonOf(pieces))
  const name = (at: number): string => pieces[at]?.name ?? 'value'
  const found = pieces.flatMap((piece, index): [number, Feed][] => {
    const feed = isAuthors(piece) ? undefined : feedOf(reading, index, name, filesRun)
    return feed === undefined || feed.option !== undefined ? [] : [[index, feed]]
  })
  return new Map(found)
}
