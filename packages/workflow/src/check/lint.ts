import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import { hasErrors, inOrder, type Problem } from '../problem.ts'
import { readWorkflow, type ReadFile } from '../read/document.ts'
import { checkHabits } from './habits.ts'
import { checkMeaning } from './meaning.ts'
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
  if (!hasErrors(problems)) {
    const report = reporter(file, read.locate, problems)
    checkStructure(read.workflow, report)
    checkHabits(read.workflow, report)
    checkMeaning(read.workflow, report)
  }
  return { ...read, problems: inOrder(problems) }
}

/** All problems of one workflow text, in the order of their places. Never throws. */
export const lint = (text: string, file: string, options: LintOptions = {}): Problem[] => [
  ...readChecked(text, file, options).problems,
]
