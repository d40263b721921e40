const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

const NAMED: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const joined = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

const named = (text: string, names: readonly string[], first: number): string => {
  const short = names.find((name) => name.slice(0, 3).toLowerCase() === text.toLowerCase())
  return short ?? names[(Number(text) - first) % names.length] ?? text
}

/** `1-5,0` with the names of days or months. */
const listOf = (field: string, names: readonly string[], first: number): string =>
  joined(
    field.split(',').map((part) =>
      part
        .split('-')
        .map((end) => named(end, names, first))
        .join(' to '),
    ),
  )

const numbers = (field: string): readonly number[] | undefined =>
  /^\d+(,\d+)*$/.test(field) ? field.split(',').map(Number) : undefined

const clock = (hour: number, minute: number): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`

/** Most times of a day that are listed one by one. */
const MAX_TIMES = 6

const stepOf = (field: string): string | undefined => /^\*\/(\d+)$/.exec(field)?.[1]

const timeWords = (minute: string, hour: string): string => {
  const [minutes, hours] = [numbers(minute), numbers(hour)]
  if (minutes && hours && minutes.length * hours.length <= MAX_TIMES)
    return `at ${joined(hours.flatMap((one) => minutes.map((part) => clock(one, part))))}`
  const every = stepOf(minute)
  const first =
    minute === '*'
      ? 'every minute'
      : every !== undefined
        ? `every ${every} minutes`
        : `at minute ${joined(minute.split(','))}`
  const everyHour = stepOf(hour)
  if (hour === '*') return minutes ? `${first} of every hour` : first
  return everyHour === undefined
    ? `${first} of hour ${joined(hour.split(','))}`
    : `${first} of every ${everyHour} hours`
}

/** A cron expression as a sentence; an expression that has no simple sentence is returned as it is. */
export const cronWords = (schedule: string): string => {
  const text = schedule.trim()
  const interval = /^@every\s+(\S+)$/i.exec(text)?.[1]
  if (interval !== undefined) return `Every ${interval} after the last firing`
  const fields = (NAMED[text.toLowerCase()] ?? text).split(/\s+/)
  if (fields.length !== 5) return text
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  if (/[^\w*,/-]/.test(fields.join(''))) return text
  const step = stepOf(day)
  const days = [
    ...(day === '*' ? [] : [step === undefined ? `on day ${joined(day.split(','))}` : `every ${step} days`]),
    ...(weekday === '*' ? [] : [`on ${listOf(weekday, DAYS, 0)}`]),
  ].join(' or ')
  const months =
    month === '*' ? '' : stepOf(month) ? `every ${stepOf(month)} months` : `in ${listOf(month, MONTHS, 1)}`
  const when = [
    timeWords(minute, hour),
    days === '' && month === '*' && hour !== '*' ? 'every day' : days,
    months,
  ]
    .filter((part) => part !== '')
    .join(' ')
  return when.charAt(0).toUpperCase() + when.slice(1)
}
