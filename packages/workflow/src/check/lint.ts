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

const OF_ONE_TEXT: ReadonlySet<string> = new Set([
  'template-syntax',
  'unknown-filter',
  'call-in-template',
  'expression-syntax',
  'unknown-function',
  'refused-function',
])

/** Reads a workflow and checks everything that can be said of it alone. */
export const readChecked = (text: string, file: string, options: LintOptions = {}): ReadFile => {
  const read = readWorkflow(text, file, options.limits ?? READ_LIMITS)
  if (read.workflow === undefined) return read
  const meant: Problem[] = []
  const report = reporter(file, read.locate, meant)
  const misshapen = hasErrors(read.problems)
  if (!misshapen) {
    checkStructure(read.workflow, report)
    checkHabits(read.workflow, report)
  }
  // Behind an item of the wrong type, which is left out, the places of all others are not known any more.
  if (!read.problems.some(({ rule }) => rule === 'wrong-type')) checkMeaning(read.workflow, report)
  // Where the shape is not right yet, rules about what belongs together only confuse; those about one text do not.
  const told = misshapen ? meant.filter(({ rule }) => OF_ONE_TEXT.has(rule)) : meant
  return { ...read, problems: inOrder([...read.problems, ...told]) }
}

/** All problems of one workflow text, in the order of their places. Never throws. */
export const lint = (text: string, file: string, options: LintOptions = {}): Problem[] => [
  ...readChecked(text, file, options).problems,
]
