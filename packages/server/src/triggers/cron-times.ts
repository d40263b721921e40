import { parseCron } from '@scanfarm/language'
import type { CronRule } from './trigger.ts'

/** Maximum times computed in one call. */
const MAX_TIMES = 10_000

/**
 * The next time after `after`; null if there is none. A time that daylight saving skips fires when the clock continues.
 */
export const nextTime = (schedule: string, timezone: string, after: Date): Date | null =>
  parseCron(schedule, timezone).nextRun(after)

/**
 * The next time to display: after `decidedUntil`, from which intervals count, if that is in the future. If
 * `decidedUntil` is missing, the trigger has not started yet.
 */
export const upcomingTime = (
  { schedule, timezone }: { readonly schedule: string; readonly timezone: string },
  decidedUntil: Date | undefined,
  now: Date = new Date(),
): string | null => {
  const time = nextTime(schedule, timezone, decidedUntil ?? now)
  return ((time ?? now) > now ? time : nextTime(schedule, timezone, now))?.toISOString() ?? null
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

/** The times after `from` up to `now` at which the trigger fires, according to its policy for missed times. */
export const dueTimes = (rule: CronRule, from: Date, now: Date): Date[] => {
  const times = timesBetween(rule.schedule, rule.timezone, from, now)
  const newerThan = (ms: number): Date[] => times.filter((time) => now.getTime() - time.getTime() <= ms)
  switch (rule.missed) {
    case 'skip':
      return newerThan(ON_TIME_MS)
    case 'once':
      return times.slice(-1)
    case 'all':
      return newerThan(Math.max(rule.missedWindowMs, ON_TIME_MS)).slice(-MAX_MADE_UP)
  }
}
