import { createHash } from 'node:crypto'

/** First part of every Redis key, and of the channel names on Postgres. */
export const PREFIX = 'scanfarm'

const HASH_CHARS = 16

/** Words of a class may contain what queue names may not, so classes other than the plain one are hashed. */
export const queueName = (farmId: string, requirementClass: string): string =>
  requirementClass === ''
    ? `${farmId}.runs`
    : `${farmId}.runs.${createHash('sha256').update(requirementClass).digest('hex').slice(0, HASH_CHARS)}`

/** Ids of cancelled runs as they travel in a signal. */
export const formatRunIds = (runs: readonly { readonly runId: number }[]): string =>
  runs.map(({ runId }) => runId).join(',')

export const parseRunIds = (text: string): number[] =>
  text
    .split(',')
    .map(Number)
    .filter((id) => Number.isSafeInteger(id) && id > 0)
