import { parseCron } from '@scanfarm/language/cron'
import { cronWords } from './cron-words.ts'

const SHOWN = 5

const nextTimes = (schedule: string, timezone: string): Date[] => {
  const cron = parseCron(schedule, timezone)
  const times: Date[] = []
  for (let time = cron.nextRun(new Date()); time !== null && times.length < SHOWN; time = cron.nextRun(time))
    times.push(time)
  return times
}

const shownTimes = (schedule: string, timezone: string): readonly Date[] | string => {
  try {
    return nextTimes(schedule, timezone)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A cron expression in words, and when it fires next. It is read by the code that the server uses. */
export const CronPreview = ({ schedule, timezone }: { schedule: string; timezone: string }) => {
  const times = shownTimes(schedule, timezone)
  if (typeof times === 'string')
    return (
      <p className="caption field-problem" role="status">
        {times}
      </p>
    )
  const format = new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: timezone,
  })
  return (
    <div className="caption cron-preview" role="status">
      <p>{cronWords(schedule)}</p>
      <p>
        Next ({timezone}):{' '}
        {times.length === 0 ? 'never' : times.map((time) => format.format(time)).join(' · ')}
      </p>
    </div>
  )
}
