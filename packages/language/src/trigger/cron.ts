import { Cron } from 'croner'
import { parseDuration } from '../duration.ts'

/** Number of fields: triggers fire at whole minutes. */
const FIELDS = 5

/** Names of whole schedules. */
const WORDS = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/i
const EVERY = /^@every\s+(\S+)$/i
/** `/10` and, as weekday, `7/2`: Croner reads the first as all multiples, and never fires for the second. */
const STEP_FROM_NOTHING = /(?:^|[\s,])(?:\/|7\/\S*$)/
/** A field with every value, which restricts no days. */
const EVERY_VALUE = /^(?:.*,)?\*(?:\/0*1)?(?:,.*)?$/
/** A trigger fires at most once a minute. */
const SHORTEST_MS = 60_000
const LONGEST_MS = 366 * 24 * 60 * SHORTEST_MS

/** The times at which a trigger fires. */
export interface FireTimes {
  /** The first time after `after`; null if there is none. */
  nextRun(after: Date): Date | null
}

/** Parses a cron expression in its time zone, or `@every 2h`, an interval after the last firing. Throws for other texts. */
export const parseCron = (schedule: string, timezone: string): FireTimes => {
  const interval = EVERY.exec(schedule.trim())?.[1]
  if (interval !== undefined) return everyInterval(interval)
  if (WORDS.test(schedule.trim()))
    return new Cron(schedule.trim().toLowerCase().replace('@midnight', '@daily'), { timezone, paused: true })
  const fields = schedule.trim().split(/\s+/)
  if (fields.length !== FIELDS)
    throw new Error(
      `"${schedule}" has ${fields.length} fields, a schedule has five: minute hour day month weekday`,
    )
  if (STEP_FROM_NOTHING.test(schedule.trim()))
    throw new Error('a step needs * or the first value, for example */10 or 5/10')
  // Ranges without an end, `5/15`, are steps from 5 to the last value, as in Osmedeus.
  const options = { timezone, paused: true, sloppyRanges: true }
  const written = new Cron(fields.join(' '), options)
  if (!fields.some((field) => EVERY_VALUE.test(field))) return written
  // Of restricted days and weekdays either fires. To Croner `*/1` is a restriction, to Osmedeus and cron it is none.
  return new Cron(fields.map((field) => (EVERY_VALUE.test(field) ? '*' : field)).join(' '), options)
}

const everyInterval = (interval: string): FireTimes => {
  const ms = parseDuration(interval)
  if (ms === undefined || ms < SHORTEST_MS || ms > LONGEST_MS)
    throw new Error(`"${interval}" is no time from 1m to 366d, such as 30m or 2h`)
  return { nextRun: (after) => new Date(after.getTime() + ms) }
}

/** Why a schedule is invalid, or undefined. */
export const cronProblem = (schedule: string, timezone: string): string | undefined => {
  if (!isTimezone(timezone)) return `"${timezone}" is not a time zone; for example: UTC, Europe/Berlin`
  try {
    const never = parseCron(schedule, timezone).nextRun(new Date()) === null
    return never ? `"${schedule}" never comes: none of its months has such a day` : undefined
  } catch (error) {
    return `"${schedule}" is not a cron expression: ${error instanceof Error ? error.message : String(error)}`
  }
}

export const isTimezone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
