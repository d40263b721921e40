import { AppError, type ErrorCode, type FieldError } from '@scanfarm/contracts'

/** One refusal for all problems, its message naming the first; undefined when there are none. */
export const fieldRefusal = (
  problems: readonly FieldError[],
  code: ErrorCode = 'invalid_input',
): AppError | undefined => {
  const [first] = problems
  if (first === undefined) return undefined
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  // Fields are named as JSON pointers, places in a file as they are.
  const place = first.path === '' ? '' : `${first.path.replace(/^\//, '')}: `
  return new AppError(code, `${place}${first.message}${more}`, { details: problems })
}

export const refuse = (problems: readonly FieldError[], code?: ErrorCode): void => {
  const refusal = fieldRefusal(problems, code)
  if (refusal !== undefined) throw refusal
}
