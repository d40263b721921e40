import { MAX_TIMEOUT_MINUTES, type CreateRuns, type FieldError } from '@scanfarm/contracts'
import { parseDuration } from '@scanfarm/workflow'

const MINUTE_MS = 60_000

/** Minutes; existing clients send them as text, bare or as a duration. Null: none, or no duration at all. */
export const timeoutOf = ({ timeout }: Pick<CreateRuns, 'timeout'>): number | null => {
  if (timeout === undefined) return null
  if (/^\d+$/.test(String(timeout))) return Number(timeout)
  const ms = parseDuration(String(timeout))
  return ms === undefined ? null : Math.ceil(ms / MINUTE_MS)
}

/** The schema bounds numbers only; this bounds durations, too. */
export const timeoutProblems = (body: Pick<CreateRuns, 'timeout'>): FieldError[] => {
  const minutes = timeoutOf(body)
  return minutes === null || (minutes >= 1 && minutes <= MAX_TIMEOUT_MINUTES)
    ? []
    : [{ path: '/timeout', message: `must be from 1 to ${MAX_TIMEOUT_MINUTES} minutes` }]
}
