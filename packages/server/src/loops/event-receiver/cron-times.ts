import { parseCron } from '@scanfarm/workflow'

/** Firing times that are looked at in one go. */
const MAX_TIMES = 10_000

/** The next firing after a time; null: never. A time that the clocks skip fires when they go on. */
export const nextTime = (schedule: string, timezone: string, after: Date): Date | null =>
  parseCron(schedule, timezone).nextRun(after)

/**
 * The next firing as people see it: after `decidedUntil`, from which intervals count, where that is still to come.
 * Missing: the trigger is about to begin.
 */
export const upcomingTime = (
  { schedule, timezone }: { readonly schedule: string; readonly timezone: string },
  decidedUntil: Date | undefined,
  now: Date = new Date(),
): string | null => {
  const time = nextTime(schedule, timezone, decidedUntil ?? now)
  return ((time ?? now) > now ? time : nextTime(schedule, timezone, now))?.toISOString() ?? null
}

/** The firings after `from` up to and with `until`, oldest first; only the newest when they are very many. */
export const timesBetween = (schedule: string, timezone: string, from: Date, until: Date): Date[] => {
  const cron = parseCron(schedule, timezone)
  const times: Date[] = []
  for (let time = cron.nextRun(from); time !== null && time <= until; time = cron.nextRun(time)) {
    times.push(time)
    if (times.length > MAX_TIMES) times.shift()
  }
  return times
}
