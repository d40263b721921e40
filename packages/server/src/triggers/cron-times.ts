import { createHash } from 'node:crypto'
import { parseCron } from '@scanfarm/language'
import type { CronRule } from './trigger.ts'

/** Maximum times computed in one call. */
const MAX_TIMES = 10_000

/** The next time after `after`; null if there is none. A time that daylight saving skips fires after it. */
export const nextTime = (schedule: string, timezone: string, after: Date): Date | null =>
  parseCron(schedule, timezone).nextRun(after)

export const MAX_JITTER_MS = 24 * 60 * 60_000

/** The delay of a trigger, below `jitterMs`. */
export const delayOf = (key: string, jitterMs: number): number => {
  const part = createHash('sha256').update(key).digest().readUInt32BE() / 2 ** 32
  return Math.floor(part * jitterMs)
}

const shifted = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

/** The next time at which a trigger fires, after `after`; null if there is none. */
export const nextFiring = (
  { schedule, timezone, delayMs }: Pick<CronRule, 'schedule' | 'timezone' | 'delayMs'>,
  after: Date,
): Date | null => {
  const time = nextTime(schedule, timezone, shifted(after, -delayMs))
  return time && shifted(time, delayMs)
}

/**
 * The next time to display: after `decidedUntil`, from which intervals count, if that is in the future. If
 * `decidedUntil` is missing, the trigger has not started yet.
 */
export const upcomingTime = (
  rule: Pick<CronRule, 'schedule' | 'timezone' | 'delayMs'>,
  decidedUntil: Date | undefined,
  now: Date = new Date(),
): string | null => {
  const time = nextFiring(rule, decidedUntil ?? now)
  return ((time ?? now) > now ? time : nextFiring(rule, now))?.toISOString() ?? null
}

/** The times after `from` up to and including `until`, oldest first; only the newest if there are too many. */
export const timesBetween = (schedule: string, timezone: string, from: Date, until: Date): Date[] => {
  const cron = parseCron(schedule, timezone)
  const times: Date[] = []
  for (let time = cron.nextRun(from); time !== null && time <= until; time = cron.nextRun(time)) {
    times.push(time)
    if (times.length > MAX_TIMES) times.shift()
  }
  return times
}

/** A time that is processed later than this counts as missed: no master was running. */
export const ON_TIME_MS = 60_000
/** Maximum missed times that are executed together. */
const MAX_MADE_UP = 100

/** The times for which a trigger fires after `from` up to `now`, according to its policy for missed times. */
export const scheduledTimes = (rule: CronRule, from: Date, now: Date): Date[] => {
  const until = shifted(now, -rule.delayMs)
  const times = timesBetween(rule.schedule, rule.timezone, shifted(from, -rule.delayMs), until)
  const newerThan = (ms: number): Date[] => times.filter((time) => until.getTime() - time.getTime() <= ms)
  switch (rule.missed) {
    case 'skip':
      return newerThan(ON_TIME_MS)
    case 'once':
      return times.slice(-1)
    case 'all':
      return newerThan(Math.max(rule.missedWindowMs, ON_TIME_MS)).slice(-MAX_MADE_UP)
  }
}
