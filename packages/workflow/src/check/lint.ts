import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import { hasErrors, inOrder, type Problem } from '../problem.ts'
import { readWorkflow, type ReadFile } from '../read/document.ts'
import { checkHabits } from './habits.ts'
import { checkMeaning } from './meaning.ts'
import { reporter, type Report } from './report.ts'
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
  const limits = options.limits ?? READ_LIMITS
  const read = readWorkflow(text, file, limits)
  const { list } = read
  if (read.workflow === undefined)
    return { ...read, problems: [...inOrder(read.problems), ...list.rest(file)] }
  const misshapen = hasErrors(read.problems)
  // Where the shape is not right yet, rules about what belongs together only confuse; those about one text do not.
  const report = misshapen
    ? only(OF_ONE_TEXT, reporter(file, read.locate, list))
    : reporter(file, read.locate, list)
  if (!misshapen) {
    checkStructure(read.workflow, report)
    checkHabits(read.workflow, report)
  }
  // Behind an item of the wrong type, which is left out, the places of all others are not known any more.
  if (!read.problems.some(({ rule }) => rule === 'wrong-type')) checkMeaning(read.workflow, report, limits)
  return { ...read, problems: [...inOrder(list.problems), ...list.rest(file)] }
}

const only =
  (rules: ReadonlySet<string>, report: Report): Report =>
  (path, rule, ...rest) => {
    if (rules.has(rule)) report(path, rule, ...rest)
  }

/** All problems of one workflow text, in the order of their places. Never throws. */
export const lint = (text: string, file: string, options: LintOptions = {}): Problem[] => [
  ...readChecked(text, file, options).problems,
]
