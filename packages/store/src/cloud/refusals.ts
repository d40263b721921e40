import { AppError, type ErrorCode } from '@scanfarm/contracts'

/** SQLSTATEs with which functions of the schema refuse what somebody asks for; their messages are for that somebody. */
const REFUSALS: Readonly<Record<string, ErrorCode>> = {
  SF001: 'cloud_limit',
  SF002: 'not_found',
  SF003: 'wrong_state',
}

/** The refusal that an error of the database stands for, or the error as it is. */
const asRefusal = (error: unknown): unknown => {
  if (!Error.isError(error) || !('code' in error) || typeof error.code !== 'string') return error
  const code = REFUSALS[error.code]
  return code === undefined ? error : new AppError(code, error.message)
}

/** The same promise, with refusals of the database as such. */
export const refusing = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw asRefusal(error)
  })
