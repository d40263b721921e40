import { timesBetween } from '../event-receiver/cron-times.ts'
import type { CronRule } from '../event-receiver/trigger.ts'

/** A firing that comes later than this was missed: no master was there. */
export const ON_TIME_MS = 60_000
/** Missed firings that are made up for at once. */
const MAX_MADE_UP = 100

/** The times at which a trigger fires now, of all those after `from` up to `now`, by its policy for missed ones. */
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
