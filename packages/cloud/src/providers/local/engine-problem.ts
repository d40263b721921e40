import { RunnerUnavailableError } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { engineMessage, statusOf } from '@scanfarm/runners'
import { CloudError } from '../../provider.ts'
import { problemOfStatus, unreachable } from '../calls.ts'

/** What an answer of the engine, or its silence, means. */
export function engineProblem(error: unknown): CloudError {
  const first = error instanceof RunnerUnavailableError ? error.cause : error
  const status = statusOf(first)
  if (status !== undefined)
    return new CloudError(problemOfStatus(status), engineMessage(first), { cause: error })
  if (codeOf(first) === 'EACCES') return new CloudError('credentials', errorText(error), { cause: error })
  if (!(error instanceof RunnerUnavailableError)) return unreachable('the docker engine', error)
  return new CloudError('unavailable', error.message, { cause: error })
}

const codeOf = (error: unknown): unknown => (Error.isError(error) && 'code' in error ? error.code : undefined)
