import { EVENT_WORD_LENGTH, isTopicGlob, topicGlob } from '@scanfarm/contracts'
import { problemAt, refuse } from '../http/refusal.ts'

/** Events with the first topic also match triggers on the second one. */
const OTHER_NAME: Readonly<Record<string, string>> = {
  'asset.discovered': 'assets.new',
  'asset.updated': 'assets.updated',
}

/** All topics that the database must keep events for. */
export const wantedTopics = (topic: string): string[] => {
  if (topic === '') return ['*']
  const matches = topicMatcher(topic)
  return [topic, ...Object.keys(OTHER_NAME).filter((name) => name !== topic && matches(name))]
}

/** Whether a topic, or its other name, matches a trigger. Throws `SyntaxError` for an invalid glob. */
export const topicMatcher = (glob: string): ((topic: string) => boolean) => {
  const matches = glob === '' ? () => true : topicGlob(glob)
  return (topic) => matches(topic) || (OTHER_NAME[topic] !== undefined && matches(OTHER_NAME[topic]))
}

/** Why a topic or glob cannot match any event; undefined if it can. */
export const topicProblem = (glob: string): string | undefined => {
  if (glob.length > EVENT_WORD_LENGTH) return `a topic has at most ${EVENT_WORD_LENGTH} characters`
  const shown = JSON.stringify(glob)
  if (/[\p{Cc}\p{Cs}]/u.test(glob))
    return `the topic ${shown} must not contain control characters or a lone surrogate`
  try {
    topicMatcher(glob)
    return undefined
  } catch {
    return `the topic ${shown} is not a shell glob`
  }
}

/** Validates the topic filter of an event list; a string without glob characters is a plain topic. */
export const refuseBadGlob = (topic: string | undefined): void => {
  const message = topic !== undefined && isTopicGlob(topic) ? topicProblem(topic) : undefined
  refuse(problemAt('/topic', message))
}
