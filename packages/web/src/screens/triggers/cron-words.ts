import cronstrue from 'cronstrue'

const OPTIONS = { use24HourTimeFormat: true }

/** A cron expression as a sentence; an expression that has no sentence is returned as it is. */
export const cronWords = (schedule: string): string => {
  const text = schedule.trim()
  const interval = /^@every\s+(\S+)$/i.exec(text)?.[1]
  if (interval !== undefined) return `Every ${interval} after the last firing`
  const fields = text.split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  if (fields.length !== 5 && !text.startsWith('@')) return text
  try {
    const words = cronstrue.toString(text, OPTIONS)
    if (fields.length !== 5 || day === '*' || weekday === '*') return words
    // It fires on either day, which the library joins by "and" or a comma.
    const days = cronstrue.toString([minute, hour, day, month, '*'].join(' '), OPTIONS)
    const from = [...days].findIndex((character, index) => words[index] !== character)
    const at = words.lastIndexOf(', ', from < 0 ? days.length : from)
    return `${words.slice(0, at)}, or ${words.slice(at + 2).replace(/^and /, '')}`
  } catch {
    return text
  }
}
