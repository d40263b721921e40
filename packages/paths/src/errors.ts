export const codeOf = (error: unknown): string =>
  Error.isError(error) && 'code' in error ? String(error.code) : ''

/** For `catch`: handles errors with these codes and throws others. */
export const unless =
  <Otherwise>(codes: readonly string[], otherwise: (error: unknown) => Otherwise) =>
  (error: unknown): Otherwise => {
    if (codes.includes(codeOf(error))) return otherwise(error)
    throw error
  }

/** The error with a path that its reader knows, instead of that of a descriptor. */
export const withPath = (error: unknown, path: string): Error => {
  if (!Error.isError(error)) return new Error(String(error))
  if (!error.message.includes(DESCRIPTOR)) return error
  const message = error.message.replaceAll(/\/proc\/self\/fd\/\d+[^']*/g, () => path)
  return Object.assign(new Error(message, { cause: error }), { code: codeOf(error) })
}

const DESCRIPTOR = '/proc/self/fd/'
