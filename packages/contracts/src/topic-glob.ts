/** A range of code points, both ends included. */
type Range = readonly [from: string, to: string]
type Piece = '*' | '?' | { readonly not: boolean; readonly ranges: readonly Range[] }

const rangesOf = (members: string): Range[] => {
  const ranges: Range[] = []
  const chars = [...members]
  for (let index = 0; index < chars.length; index += 1) {
    const [from = '', dash, to] = chars.slice(index, index + 3)
    const isRange = dash === '-' && to !== undefined
    if (isRange && codeOf(from) > codeOf(to)) throw new SyntaxError(`the range ${from}-${to} goes backwards`)
    ranges.push(isRange ? [from, to] : [from, from])
    if (isRange) index += 2
  }
  return ranges
}

const codeOf = (char: string): number => char.codePointAt(0) ?? 0

const pieceOf = (text: string): Piece => {
  if (text.startsWith('*')) return '*'
  if (text === '?') return '?'
  const [, not = '', members = text] = /^\[(!?)([^\]]+)\]$/.exec(text) ?? []
  return { not: not !== '', ranges: rangesOf(members) }
}

const piecesOf = (glob: string): Piece[] => (glob.match(/\[!?[^\]]+\]|\*+|[^]/gu) ?? []).map(pieceOf)

export const isTopicGlob = (topic: string): boolean => /[*?[]/.test(topic)

const fitsChar = (piece: Exclude<Piece, '*'>, char: string): boolean =>
  piece === '?' ||
  piece.ranges.some(([from, to]) => codeOf(from) <= codeOf(char) && codeOf(char) <= codeOf(to)) !== piece.not

/**
 * Matches topics with a topic or shell glob. Only the last star is extended, so that globs with many stars take linear
 * time; a backtracking regular expression would not. Throws a `SyntaxError` for an invalid glob.
 */
export const topicGlob = (glob: string): ((topic: string) => boolean) => {
  if (!isTopicGlob(glob)) return (topic) => topic === glob
  const pieces = piecesOf(glob)
  return (topic) => fits(pieces, [...topic])
}

const fits = (pieces: readonly Piece[], topic: readonly string[]): boolean => {
  let [at, taken, star] = [0, 0, -1]
  for (let index = 0; index < topic.length;) {
    const piece = pieces[at]
    if (piece === '*') {
      star = at
      taken = index
      at += 1
    } else if (piece !== undefined && fitsChar(piece, topic[index] ?? '')) {
      at += 1
      index += 1
    } else if (star === -1) return false
    else {
      at = star + 1
      taken += 1
      index = taken
    }
  }
  return pieces.slice(at).every((piece) => piece === '*')
}

const escaped = (char: string): string => `\\U${codeOf(char).toString(16).padStart(8, '0')}`

/** A regular expression of Postgres that matches the same topics as `topicGlob`. */
export const topicGlobSql = (glob: string): string =>
  `^${piecesOf(glob)
    .map((piece) => {
      if (piece === '*') return '.*'
      if (piece === '?') return '.'
      const ranges = piece.ranges.map(([from, to]) =>
        from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`,
      )
      // A single character outside of brackets lets Postgres use an index for a literal prefix.
      return ranges.length === 1 && !piece.not && !/-/.test(ranges[0] ?? '')
        ? ranges[0]
        : `[${piece.not ? '^' : ''}${ranges.join('')}]`
    })
    .join('')}$`
