import { RunnerUnavailableError } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { engineMessage, statusOf } from '@scanfarm/runners'
import { CloudError } from '../../provider.ts'
import { problemOfStatus, unreachable } from '../calls.ts'

/** What an answer of the engine, or its silence, means. */
export function engineProblem(error: unknown): CloudError {
  const status = statusOf(error)
  if (status !== undefined)
    return new CloudError(problemOfStatus(status), engineMessage(error), { cause: error })
  const code = codeOf(error instanceof RunnerUnavailableError ? error.cause : error)
  if (code === 'EACCES') return new CloudError('credentials', errorText(error), { cause: error })
  if (!(error instanceof RunnerUnavailableError)) return unreachable('the docker engine', error)
  // Without a code the engine did answer: it is the image that cannot be had.
  return new CloudError(code === undefined ? 'refused' : 'unavailable', error.message, { cause: error })
}

const codeOf = (error: unknown): unknown => (Error.isError(error) && 'code' in error ? error.code : undefined)
