import { createHash } from 'node:crypto'

/** Prefix of every Redis key, and of the channel names on Postgres. */
export const PREFIX = 'scanfarm'

const HASH_CHARS = 16

/** Classes may contain characters that queue names may not, so all but the empty class are hashed. */
export const queueName = (farmId: string, requirementClass: string): string =>
  requirementClass === ''
    ? `${farmId}.runs`
    : `${farmId}.runs.${createHash('sha256').update(requirementClass).digest('hex').slice(0, HASH_CHARS)}`

/** Ids of cancelled runs, as text of a signal. */
export const formatRunIds = (runs: readonly { readonly runId: number }[]): string =>
  runs.map(({ runId }) => runId).join(',')

export const parseRunIds = (text: string): number[] =>
  text
    .split(',')
    .map(Number)
    .filter((id) => Number.isSafeInteger(id) && id > 0)
