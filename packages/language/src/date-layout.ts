/** Layouts of Go dates, longest first. */
const LAYOUT = /2006|January|Monday|Jan|Mon|MST|15|01|02|03|04|05|06|PM/g

/** Formats a date in UTC by a Go layout. */
export const dated = (date: Date, layout: string): string => {
  const pad = (number: number) => String(number).padStart(2, '0')
  const [month, day] = [
    date.toLocaleDateString('en', { month: 'long', timeZone: 'UTC' }),
    date.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }),
  ]
  const parts: Readonly<Record<string, string>> = {
    '2006': String(date.getUTCFullYear()),
    '06': pad(date.getUTCFullYear() % 100),
    '01': pad(date.getUTCMonth() + 1),
    '02': pad(date.getUTCDate()),
    '15': pad(date.getUTCHours()),
    '03': pad(date.getUTCHours() % 12 || 12),
    '04': pad(date.getUTCMinutes()),
    '05': pad(date.getUTCSeconds()),
    January: month,
    Jan: month.slice(0, 3),
    Monday: day,
    Mon: day.slice(0, 3),
    MST: 'UTC',
    PM: date.getUTCHours() < 12 ? 'AM' : 'PM',
  }
  return layout.replaceAll(LAYOUT, (word) => parts[word] ?? word)
}
