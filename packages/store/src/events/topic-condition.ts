import { sql, type RawBuilder } from 'kysely'

const codePoint = (char: string): string => `\\U${(char.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`

/** The members of a set, each written as its code point: none of them is a sign of the expression. */
const setOf = (not: string, members: string): string => {
  const chars = [...members]
  const parts: string[] = []
  for (let index = 0; index < chars.length; index += 1) {
    const [from = '', dash, to] = chars.slice(index, index + 3)
    const isRange = dash === '-' && to !== undefined
    parts.push(isRange ? `${codePoint(from)}-${codePoint(to)}` : codePoint(from))
    if (isRange) index += 2
  }
  return `[${not === '' ? '' : '^'}${parts.join('')}]`
}

const pieceOf = (text: string): string => {
  if (text.startsWith('*')) return '.*'
  if (text === '?') return '.'
  const [, not = '', members] = /^\[(!?)([^\]]+)\]$/.exec(text) ?? []
  return members === undefined ? codePoint(text) : setOf(not, members)
}

/** A regular expression for the database that matches the topics of a shell glob and no others. */
const expressionOf = (glob: string): string =>
  `^${(glob.match(/\[!?[^\]]+\]|\*+|[^]/gu) ?? []).map(pieceOf).join('')}$`

export const isTopicGlob = (topic: string): boolean => /[*?[]/.test(topic)

/** Whether the column `topic` is this topic, or is matched by this shell glob. */
export const topicCondition = (topic: string): RawBuilder<boolean> =>
  isTopicGlob(topic) ? sql`topic ~ ${expressionOf(topic)}` : sql`topic = ${topic}`
