/** Counts cost more than a page of a list: they are refreshed now and then, and do not follow each event. */
export const COUNTS = { refetchInterval: 10_000 } as const

const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24 }
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** `24h` and `7d` as a time, in full minutes so that the server can keep its counts; other text stays as it is. */
export const newSince = (since: string | undefined, now = Date.now()): string | undefined => {
  const [, count, unit = ''] = /^(\d{1,4})([hd])$/.exec(since ?? '') ?? []
  const hours = HOURS[unit]
  if (count === undefined || hours === undefined) return since
  return new Date(Math.floor((now - Number(count) * hours * HOUR_MS) / MINUTE_MS) * MINUTE_MS).toISOString()
}
