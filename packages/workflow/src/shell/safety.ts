import type { Piece } from '../template/value.ts'
import { readFeeds, type Feed, type Reading } from './feeds.ts'
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

const INSTEAD = `Hand it over as an argument, as in sh -c '… "$1"' sh {{x}} or sh script.sh {{x}}, or in an environment variable that the code reads`

/** Says why a value cannot stand where it becomes code, and what to do. */
export const refusal = (name: string, place: string): string =>
  `{{${name}}} becomes code in ${place}, where only ${HARMLESS_TEXT} may stand. ${INSTEAD}.`

/** Files that other commands of the workflow run, by the last part of their paths. */
export type FilesRun = () => ReadonlySet<string>

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
  return file === undefined
    ? feed
    : { depth: Infinity, place: `the script ${namedMarks(file.key, name)}`, alsoHarmful: '' }
}

/**
 * Refuses a command one of whose values would be read as code. `nestings` says for how many scripts in scripts the
 * lexer has escaped each of them. Values of letters and digits alone are harmless anywhere.
 */
export const refuseCode = (
  pieces: readonly Piece[],
  nestings: readonly number[],
  filesRun: FilesRun,
): void => {
  const looked = pieces.flatMap((piece, index) =>
    isAuthors(piece) || /^\w*$/.test(piece.text) ? [] : [index],
  )
  if (looked.length === 0) return
  const reading = readingOf(skeletonOf(pieces))
  const name = (at: number): string => pieces[at]?.name ?? 'value'
  for (const index of looked) {
    const { text = '' } = pieces[index] ?? {}
    const feed = feedOf(reading, index, name, filesRun)
    if (feed === undefined) continue
    const ends = [...feed.alsoHarmful].some((char) => text.includes(char))
    if (isHarmless(text) && !ends) continue
    if ((nestings[index] ?? 0) < feed.depth) throw new UnsafePlaceError(refusal(name(index), feed.place))
  }
}
