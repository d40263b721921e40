import { AppError, type ErrorCode } from '@scanfarm/contracts'

/** Most characters of a problem; a parser may repeat a part of the file in its words. */
const MAX_PROBLEM = 500

/** The file is not what its format says. */
export const unreadable = (problem: string, code: ErrorCode = 'invalid_input', cause?: unknown): AppError =>
  new AppError(code, `the findings cannot be read: ${problem.slice(0, MAX_PROBLEM).toWellFormed()}`, {
    cause,
  })
