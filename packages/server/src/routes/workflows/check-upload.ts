import { createHash } from 'node:crypto'
import { AppError } from '@scanfarm/contracts'
import { CheckerBusy, type WorkflowChecker } from '@scanfarm/engine'
import { READ_LIMITS, type CheckedFile, type WorkflowEntry } from '@scanfarm/language'
import { refuse } from '../../http/refusal.ts'
import { problemDetails } from '../../catalog/catalog.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

export interface CheckedUpload {
  readonly entry: WorkflowEntry
  readonly yaml: string
  readonly hash: string
}

/** Reads an uploaded workflow file; throws with the position of each error. */
export async function checkUpload(
  checker: WorkflowChecker,
  filename: string,
  content: Buffer,
): Promise<CheckedUpload> {
  const yaml = workflowText(content)
  const file = workflowFile(filename)
  const { entry, problems } = await checkWorkflow(checker, file, yaml)
  refuse(problemDetails(problems), 'invalid_workflow')
  if (entry === undefined)
    throw new AppError(
      'invalid_workflow',
      'the file is not a workflow: it needs a line "kind: flow" or "kind: module"',
    )
  if (!NAME.test(entry.name))
    refuse(
      [{ path: file, message: `the name "${entry.name}" may only contain A-Z a-z 0-9 . _ -` }],
      'invalid_workflow',
    )
  return { entry, yaml, hash: createHash('sha256').update(yaml).digest('hex') }
}

/** Maximum problems in an answer; one more counts the rest. */
export const MAX_PROBLEMS = 1_000

const BUSY_RETRY_SECONDS = 2

/** Checks a file outside the event loop; throws `unavailable` if too many checks are waiting. */
export const checkWorkflow = async (
  checker: WorkflowChecker,
  path: string,
  text: string,
  outline = false,
): Promise<CheckedFile> => {
  try {
    return await checker.check({
      source: '',
      path,
      text,
      outline,
      limits: { ...READ_LIMITS, problems: MAX_PROBLEMS },
    })
  } catch (error) {
    if (!(error instanceof CheckerBusy)) throw error
    throw new AppError('unavailable', `${error.message}; try again`, {
      retryAfter: BUSY_RETRY_SECONDS,
      cause: error,
    })
  }
}

/** The file name shown in problems of an upload. */
export const workflowFile = (filename: string): string =>
  /\.ya?ml$/i.test(filename) ? filename : `${filename || 'workflow'}.yaml`

/** The text of an uploaded file; throws `invalid_workflow` if it is not UTF-8. */
export const workflowText = (content: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (error) {
    throw new AppError('invalid_workflow', 'the file is not valid UTF-8', { cause: error })
  }
}
