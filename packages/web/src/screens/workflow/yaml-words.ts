export interface Word {
  readonly kind: '' | 'key' | 'comment' | 'string' | 'value'
  readonly text: string
}

const PARTS =
  /(?<comment>(?:^|(?<=\s))#.*$)|(?<value>\{\{.*?\}\})|(?<key>(?:^|(?<=[\s{,-]))[\w.$-]+(?=:(?:\s|$)))|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/g

/** Longer lines are shown without colours. */
const MAX_CHARS = 2_000

/** Splits a line of YAML for colours. It does not follow values over several lines. */
export const wordsOf = (line: string): readonly Word[] => {
  if (line.length > MAX_CHARS) return [{ kind: '', text: line }]
  const words: Word[] = []
  let at = 0
  for (const match of line.matchAll(PARTS)) {
    const [text] = match
    if (match.index > at) words.push({ kind: '', text: line.slice(at, match.index) })
    const kind = (['comment', 'value', 'key', 'string'] as const).find(
      (each) => match.groups?.[each] !== undefined,
    )
    words.push({ kind: kind ?? '', text })
    at = match.index + text.length
  }
  if (at < line.length) words.push({ kind: '', text: line.slice(at) })
  return words
}
