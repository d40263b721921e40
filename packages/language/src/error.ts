/**
 * Characters of an error message. More than records keep: they mask secrets first and are cut afterwards, so that no
 * part of a secret is left at the end.
 */
export const MESSAGE_CHARS = 64 * 1024

/** A message may contain the value that caused the error. */
export const boundedMessage = (message: string): string =>
  message.length <= MESSAGE_CHARS ? message : `${message.slice(0, MESSAGE_CHARS - 1)}…`

/** The message of a thrown value, bounded. Errors of another realm are not instances of `Error`. */
export const messageOf = (thrown: unknown): string =>
  boundedMessage(
    typeof thrown === 'object' && thrown !== null && 'message' in thrown
      ? String(thrown.message)
      : String(thrown),
  )

/** The code of an error, for example `ENOENT`, or `""`. */
export const codeOf = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : ''
