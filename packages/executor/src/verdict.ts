import type { Session, Verdict } from './session.ts'

const MINUTE_MS = 60_000

const durationText = (ms: number): string => {
  if (ms % MINUTE_MS !== 0) return `${ms / 1000} seconds`
  return ms === MINUTE_MS ? '1 minute' : `${ms / MINUTE_MS} minutes`
}

/** How a run ended, all told: why it was stopped outweighs what its workflow makes of being stopped. */
export function verdictOf(
  session: Pick<Session, 'stopped'>,
  outcome: Verdict,
  filingProblem: string,
  limitMs: number | undefined,
): Verdict {
  if (session.stopped === 'cancel') return { status: 'cancelled', errorMessage: 'cancelled on request' }
  if (session.stopped === 'timeout')
    return { status: 'failed', errorMessage: `run timed out after ${durationText(limitMs ?? 0)}` }
  if (filingProblem === '') return outcome
  const errorMessage = [outcome.errorMessage, filingProblem].filter((part) => part !== '').join('; ')
  return { status: outcome.status === 'completed' ? 'failed' : outcome.status, errorMessage }
}
