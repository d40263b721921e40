import { setTimeout as pause } from 'node:timers/promises'
import { type Retry, parseDuration } from '@scanfarm/language'
import { type StepContext, interruption, signalOf } from './step-context.ts'
import type { StepEnd } from './step-end.ts'

const DELAY_MS = 1000
const MAX_DELAY_MS = 60_000
const FACTOR = 2

const delayBefore = (retry: Retry, attempt: number): number => {
  const first = parseDuration(retry.delay ?? '') ?? DELAY_MS
  const longest = parseDuration(retry.max_delay ?? '') ?? MAX_DELAY_MS
  return Math.min(longest, first * (retry.factor ?? FACTOR) ** (attempt - 1))
}

const worthAnother = (end: StepEnd, { exit_codes: codes }: Retry): boolean =>
  end.kind === 'failed' &&
  (codes === undefined || (end.exitCode !== undefined && codes.includes(end.exitCode)))

/** Repeats the work after failures, as the step's `retry` allows. */
export const withRetry = async (at: StepContext, work: () => Promise<StepEnd>): Promise<StepEnd> => {
  const { run } = at.module
  const { retry = {} } = at.step
  const attempts = Math.min(retry.attempts ?? 1, run.limits.attempts)
  for (let attempt = 1; ; attempt++) {
    const end = await work()
    if (attempt >= attempts || !worthAnother(end, retry) || signalOf(at).aborted) return end
    const delay = delayBefore(retry, attempt)
    const reason = end.kind === 'failed' ? end.error : ''
    await run.input.recorder.output(
      at.key,
      'stderr',
      Buffer.from(`[retry ${attempt + 1}/${attempts} in ${Math.round(delay)}ms: ${reason}]\n`),
    )
    await pause(delay, undefined, { signal: signalOf(at) }).catch(() => undefined)
    if (signalOf(at).aborted) return interruption(at)
  }
}
