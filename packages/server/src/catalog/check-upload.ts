import { createHash } from 'node:crypto'
import { AppError } from '@scanfarm/contracts'
import { lint, openLibrary, type WorkflowEntry } from '@scanfarm/workflow'
import { refuse } from '../http/field-refusal.ts'
import { problemDetails } from './problem-details.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

export interface CheckedUpload {
  readonly entry: WorkflowEntry
  readonly yaml: string
  readonly hash: string
}

/** Reads an uploaded workflow file; one with errors is refused with the place of each. */
export async function checkUpload(filename: string, content: Buffer): Promise<CheckedUpload> {
  const yaml = workflowText(content)
  const file = workflowFile(filename)
  refuse(problemDetails(lint(yaml, file)), 'invalid_workflow')
  const library = await openLibrary([])
  await library.put(file, yaml)
  const [entry] = library.list()
  if (entry === undefined)
    throw new AppError(
      'invalid_workflow',
      'the file is no workflow: it needs a line "kind: flow" or "kind: module"',
    )
  refuse(problemDetails(entry.problems), 'invalid_workflow')
  if (!NAME.test(entry.name))
    refuse(
      [{ path: file, message: `the name "${entry.name}" may only have A-Z a-z 0-9 . _ - in it` }],
      'invalid_workflow',
    )
  return { entry, yaml, hash: createHash('sha256').update(yaml).digest('hex') }
}

/** The name under which problems of an uploaded file are told. */
export const workflowFile = (filename: string): string =>
  /\.ya?ml$/i.test(filename) ? filename : `${filename || 'workflow'}.yaml`

/** The text of an uploaded file; refused with `invalid_workflow` when it is none. */
export const workflowText = (content: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (error) {
    throw new AppError('invalid_workflow', 'the file is not valid UTF-8', { cause: error })
  }
}
