import { Cron } from 'croner'

/** Five fields: a trigger fires at whole minutes. */
const FIELDS = 5
/** Firing times that are looked at in one go. */
const MAX_TIMES = 10_000

const parsed = (schedule: string, timezone: string): Cron => {
  const fields = schedule.trim().split(/\s+/)
  if (fields.length !== FIELDS)
    throw new Error(
      `"${schedule}" has ${fields.length} fields, a schedule has five: minute hour day month weekday`,
    )
  return new Cron(schedule.trim(), { timezone, paused: true })
}

/** Why a schedule cannot work, or undefined. */
export const cronProblem = (schedule: string, timezone: string): string | undefined => {
  if (!Intl.supportedValuesOf('timeZone').includes(timezone) && timezone !== 'UTC') {
    try {
      new Intl.DateTimeFormat('en', { timeZone: timezone })
    } catch {
      return `"${timezone}" is not a time zone; for example: UTC, Europe/Berlin`
    }
  }
  try {
    parsed(schedule, timezone)
    return undefined
  } catch (error) {
    return `"${schedule}" is not a cron expression: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The next firing after a time; null: never. A time that the clocks skip fires when they go on. */
export const nextTime = (schedule: string, timezone: string, after: Date): Date | null =>
  parsed(schedule, timezone).nextRun(after)

/** The firings after `from` up to and with `until`, oldest first; only the newest when they are very many. */
export const timesBetween = (schedule: string, timezone: string, from: Date, until: Date): Date[] => {
  const cron = parsed(schedule, timezone)
  const times: Date[] = []
  for (let time = cron.nextRun(from); time !== null && time <= until; time = cron.nextRun(time)) {
    times.push(time)
    if (times.length > MAX_TIMES) times.shift()
  }
  return times
}
