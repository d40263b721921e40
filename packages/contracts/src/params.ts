import type { FieldError } from './error.ts'

/** Limits of the params of one run from any source: API, schedule, event, workflow, command line. */
export const PARAM_LIMITS = {
  count: 200,
  nameLength: 128,
  valueBytes: 64 * 1024,
  /** Names and values combined. */
  totalBytes: 256 * 1024,
} as const

const NAME = /^[A-Za-z0-9_.-]+$/
const SHOWN = 40

const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength

const shown = (name: string): string =>
  JSON.stringify(name.length > SHOWN ? `${name.slice(0, SHOWN)}…` : name)

/** The problem of too many params, found before any is visited: there may be hundreds of thousands. */
export const paramCountProblems = (params: object, path = '/params'): FieldError[] => {
  const { length } = Object.keys(params)
  const { count } = PARAM_LIMITS
  return length > count ? [{ path, message: `at most ${count} params are taken, these are ${length}` }] : []
}

/** Problems with the number, names and size of params; at most a few. Paths start with `path`. */
export const paramsProblems = (params: Readonly<Record<string, string>>, path = '/params'): FieldError[] => {
  const tooMany = paramCountProblems(params, path)
  if (tooMany.length > 0) return tooMany
  const entries = Object.entries(params)
  const { nameLength, valueBytes, totalBytes } = PARAM_LIMITS
  const misnamed = entries.find(([name]) => name.length > nameLength || !NAME.test(name))
  if (misnamed !== undefined)
    return [
      {
        path,
        message: `the name of a param has 1 to ${nameLength} characters of A-Z a-z 0-9 . _ - and is not ${shown(misnamed[0])}`,
      },
    ]
  const large = entries.flatMap(([name, value]): FieldError[] => {
    const bytes = bytesOf(value)
    return bytes > valueBytes
      ? [
          {
            path: `${path}/${name}`,
            message: `a param has at most ${valueBytes} bytes, this one has ${bytes}; put long lists into a file and name it`,
          },
        ]
      : []
  })
  if (large.length > 0) return large
  const total = entries.reduce((sum, [name, value]) => sum + name.length + bytesOf(value), 0)
  return total > totalBytes
    ? [
        {
          path,
          message: `names and values of params have at most ${totalBytes} bytes together, these have ${total}`,
        },
      ]
    : []
}
