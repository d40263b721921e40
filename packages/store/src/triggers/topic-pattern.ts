/**
 * A regular expression for the database that matches at least the topics of a shell glob, or null for plain text. Sets
 * become any character: an expression that the database refuses would stop every event, and the receiver looks again.
 */
export const topicPattern = (topic: string): string | null => {
  if (!/[*?[]/.test(topic)) return null
  const body = topic
    .replaceAll(/\[[^\]]+\]/g, '?')
    .replaceAll(/[!-/:-@[-`{-~]/g, (mark) => (mark === '*' ? '.*' : mark === '?' ? '.' : `\\${mark}`))
  return `^${body}$`
}
