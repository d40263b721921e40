/** The system's code of an error, like `ENOENT`; `''` if it has none. */
export const errorCode = (error: unknown): string => {
  const code = fieldOf(error, 'code')
  return typeof code === 'string' ? code : ''
}

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
