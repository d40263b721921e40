import { Cron } from 'croner'

/** Five fields: a trigger fires at whole minutes. */
const FIELDS = 5

/** A cron expression in its time zone. Throws with what is wrong with it. */
export const parseCron = (schedule: string, timezone: string): Cron => {
  const fields = schedule.trim().split(/\s+/)
  if (fields.length !== FIELDS)
    throw new Error(
      `"${schedule}" has ${fields.length} fields, a schedule has five: minute hour day month weekday`,
    )
  return new Cron(schedule.trim(), { timezone, paused: true })
}

/** Why a schedule cannot work, or undefined. */
export const cronProblem = (schedule: string, timezone: string): string | undefined => {
  if (!isTimezone(timezone)) return `"${timezone}" is not a time zone; for example: UTC, Europe/Berlin`
  try {
    parseCron(schedule, timezone)
    return undefined
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
