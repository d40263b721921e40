const MAX_CAUSES = 5

/** Node leaves the message of a failed connection to several addresses empty: theirs are taken. */
const own = (error: Error): string => {
  if (error.message !== '') return error.message
  return 'errors' in error && Array.isArray(error.errors)
    ? error.errors.map(errorText).join(', ')
    : error.name
}

/** What went wrong and why, in one line for people: the messages along the chain of causes. */
export const errorText = (error: unknown): string => {
  const texts: string[] = []
  let at: unknown = error
  while (Error.isError(at) && texts.length < MAX_CAUSES) {
    const text = own(at)
    if (!texts.some((known) => known.includes(text))) texts.push(text)
    at = at.cause
  }
  return texts.length === 0 ? String(error) : texts.join(': ')
}
