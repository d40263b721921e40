/** What was thrown may be anything. */

export const messageOf = (error: unknown): string => {
  const message = property(error, 'message')
  return typeof message === 'string' ? message : String(error)
}

/** The system's word for what went wrong, such as `ENOENT`; `''` without one. */
export const codeOf = (error: unknown): string => {
  const code = property(error, 'code')
  return typeof code === 'string' ? code : ''
}

export const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
