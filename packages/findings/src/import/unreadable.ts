import { AppError, type ErrorCode } from '@scanfarm/contracts'

/** The file is not what its format says. */
export const unreadable = (problem: string, code: ErrorCode = 'invalid_input', cause?: unknown): AppError =>
  new AppError(code, `the findings cannot be read: ${problem}`, { cause })
