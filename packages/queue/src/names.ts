import { createHash } from 'node:crypto'

/** Prefix of every Redis key, and of the channel names on Postgres. */
export const PREFIX = 'scanfarm'

const HASH_CHARS = 16

/** Classes may contain characters that queue names may not, so all but the empty class are hashed. */
export const queueName = (farmId: string, requirementClass: string): string =>
  requirementClass === ''
    ? `${farmId}.runs`
    : `${farmId}.runs.${createHash('sha256').update(requirementClass).digest('hex').slice(0, HASH_CHARS)}`

/** Whom a signal is for: the owners of runs with a new cancel request, or workers with a new request of an operator. */
export interface Signal {
  readonly runIds: readonly number[]
  readonly workerIds: readonly string[]
}

const WORKERS = 'workers:'

export const formatRunIds = (runs: readonly { readonly runId: number }[]): string =>
  runs.map(({ runId }) => runId).join(',')

export const formatWorkerIds = (workerIds: readonly string[]): string => WORKERS + workerIds.join(',')

export const parseSignal = (text: string): Signal =>
  text.startsWith(WORKERS)
    ? { runIds: [], workerIds: text.slice(WORKERS.length).split(',') }
    : { runIds: parseRunIds(text), workerIds: [] }

const parseRunIds = (text: string): number[] =>
  text
    .split(',')
    .map(Number)
    .filter((id) => Number.isSafeInteger(id) && id > 0)
