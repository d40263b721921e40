import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import { hasErrors, inOrder, type Problem } from '../problem.ts'
import { readWorkflow, type ReadFile } from '../read/document.ts'
import { reporter } from './report.ts'
import { checkStructure } from './structure.ts'

export interface LintOptions {
  readonly limits?: ReadLimits
}

/** Reads a workflow and checks everything that can be said of it alone. */
export const readChecked = (text: string, file: string, options: LintOptions = {}): ReadFile => {
  const read = readWorkflow(text, file, options.limits ?? READ_LIMITS)
  if (read.workflow === undefined) return read
  const problems: Problem[] = [...read.problems]
  // Rules about meaning only confuse where the shape is not right yet.
  if (!hasErrors(problems)) checkStructure(read.workflow, reporter(file, read.locate, problems))
  return { ...read, problems: inOrder(problems) }
}

/** All problems of one workflow text, in the order of their places. Never throws. */
export const lint = (text: string, file: string, options: LintOptions = {}): Problem[] => [
  ...readChecked(text, file, options).problems,
]
