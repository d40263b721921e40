/** A time for an input of the type `datetime-local`, which has the time zone of the browser. */
export const localTimeOf = (text: string | null | undefined): string => {
  const time = Date.parse(text ?? '')
  if (Number.isNaN(time)) return ''
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The time of such an input, or "". */
export const timeOfLocal = (local: string | undefined): string => (local ? new Date(local).toISOString() : '')
