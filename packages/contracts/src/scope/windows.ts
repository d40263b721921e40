export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Day = (typeof DAYS)[number]

/** Times of the day like `22:00`, in the zone of the scope. A window that ends before it begins ends on the next day. */
export interface TimeWindow {
  /** On which it begins; missing: every day. */
  readonly days?: readonly Day[] | undefined
  readonly from: string
  readonly to: string
}

const DAY_MINUTES = 24 * 60
const WEEK_MINUTES = 7 * DAY_MINUTES
const MINUTE_MS = 60_000

const formats = new Map<string, Intl.DateTimeFormat>()
const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  formats.set(zone, made)
  return made
}

export const zoneProblem = (zone: string): string | undefined => {
  try {
    formatOf(zone)
    return undefined
  } catch {
    return `${JSON.stringify(zone)} is not a time zone like UTC or Europe/Berlin`
  }
}

/** Minutes since the beginning of Monday in the zone. */
const minuteOfWeek = (at: Date, zone: string): number => {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const day = DAYS.findIndex((name) => name === parts['weekday']?.toLowerCase())
  return day * DAY_MINUTES + Number(parts['hour']) * 60 + Number(parts['minute'])
}

const minuteOf = (time: string): number => {
  const [hours, minutes] = time.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}

/** The minutes of the week at which a window begins, and how long it is. */
const starts = ({ days = DAYS, from, to }: TimeWindow): readonly (readonly [number, number])[] => {
  const begin = minuteOf(from)
  const length = (minuteOf(to) - begin + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES
  return days.map((day) => [DAYS.indexOf(day) * DAY_MINUTES + begin, length])
}

const forward = (minutes: number): number => ((minutes % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES

/** Whether one of the windows is open; without windows it always is. */
export const isOpen = (windows: readonly TimeWindow[], zone: string, at: Date): boolean => {
  if (windows.length === 0) return true
  const now = minuteOfWeek(at, zone)
  return windows.flatMap(starts).some(([begin, length]) => forward(now - begin) < length)
}

/** When one of the windows opens next. */
export const opensNext = (windows: readonly TimeWindow[], zone: string, at: Date): Date => {
  const now = minuteOfWeek(at, zone)
  const begin = at.getTime() - (at.getTime() % MINUTE_MS)
  const open = (time: number): boolean => time > at.getTime() && isOpen(windows, zone, new Date(time))
  // The start of this week may have passed, or be a time that the clock leaves out.
  const times = [0, WEEK_MINUTES].flatMap((later) =>
    windows.flatMap(starts).map(([start]) => {
      const guess = begin + (forward(start - now) + later) * MINUTE_MS
      // The clock may change before.
      const off = forward(start - minuteOfWeek(new Date(guess), zone) + WEEK_MINUTES / 2) - WEEK_MINUTES / 2
      let time = guess + off * MINUTE_MS
      while (time < guess && !open(time)) time += MINUTE_MS
      return time
    }),
  )
  // When the clock goes back within the hour, its times come again, and with them the open ones.
  const goesOn = minuteOfWeek(new Date(begin + 60 * MINUTE_MS), zone) === forward(now + 60)
  const soon = goesOn ? [] : Array.from({ length: 60 }, (_, minute) => begin + (minute + 1) * MINUTE_MS)
  return new Date(Math.min(...times.concat(soon).filter(open)))
}

export const windowsText = (windows: readonly TimeWindow[], zone: string): string =>
  `${windows
    .map(({ days, from, to }) => `${days === undefined ? '' : `${days.join(', ')} `}${from}-${to}`)
    .join('; ')} ${zone}`
