import { EVENT_WORD_LENGTH } from '@scanfarm/contracts'
import { isTopicGlob } from '@scanfarm/store'
import { refuse } from '../../http/field-refusal.ts'

/** What fires under the first name fires under the second one as well. */
const OTHER_NAME: Readonly<Record<string, string>> = {
  'asset.discovered': 'assets.new',
  'asset.updated': 'assets.updated',
}

/** All names of the topics that a trigger waits for, for the database. */
export const wantedTopics = (topic: string): string[] => {
  if (topic === '') return ['*']
  const matches = topicMatcher(topic)
  return [topic, ...Object.keys(OTHER_NAME).filter((name) => name !== topic && matches(name))]
}

/** Whether a topic, or its other name, is what a trigger waits for. Throws a `SyntaxError` for a bad glob. */
export const topicMatcher = (glob: string): ((topic: string) => boolean) => {
  const matches = glob === '' ? () => true : globMatcher(glob)
  return (topic) => matches(topic) || (OTHER_NAME[topic] !== undefined && matches(OTHER_NAME[topic]))
}

/** Why a topic or glob matches no topic that an event can have; undefined: it may match some. */
export const topicProblem = (glob: string): string | undefined => {
  if (glob.length > EVENT_WORD_LENGTH) return `a topic has at most ${EVENT_WORD_LENGTH} characters`
  const shown = JSON.stringify(glob)
  if (/[\p{Cc}\p{Cs}]/u.test(glob))
    return `the topic ${shown} must not contain control characters or half of a surrogate pair`
  try {
    topicMatcher(glob)
    return undefined
  } catch {
    return `the topic ${shown} is not a shell glob`
  }
}

/** Checks the filter of an event log, where a text without signs of a glob is a topic. */
export const refuseBadGlob = (topic: string | undefined): void => {
  const message = topic !== undefined && isTopicGlob(topic) ? topicProblem(topic) : undefined
  refuse(message === undefined ? [] : [{ path: '/topic', message }])
}

type Piece = '*' | ((char: string) => boolean)

const pieceOf = (text: string): Piece => {
  if (text === '*') return '*'
  if (text === '?') return () => true
  const [, not, set] = /^\[(!?)([^\]]+)\]$/.exec(text) ?? []
  if (set === undefined) return (char) => char === text
  const expression = new RegExp(`^[${not === '!' ? '^' : ''}${set.replaceAll(/[\\^[]/g, '\\$&')}]$`, 's')
  return (char) => expression.test(char)
}

/** Matches a topic with a topic or glob, by its own name alone. */
export const globMatcher = (glob: string): ((topic: string) => boolean) => {
  if (!/[*?[]/.test(glob)) return (topic) => topic === glob
  const pieces = (glob.match(/\[!?[^\]]+\]|[^]/g) ?? []).map(pieceOf)
  return (topic) => fits(pieces, topic)
}

/** Only the last star ever takes more: no glob, however many stars it has, makes this take long. */
const fits = (pieces: readonly Piece[], topic: string): boolean => {
  let [at, taken, star] = [0, 0, -1]
  for (let index = 0; index < topic.length;) {
    const piece = pieces[at]
    if (piece === '*') {
      star = at
      taken = index
      at += 1
    } else if (piece?.(topic[index] ?? '') === true) {
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
