import type { FunctionTable } from '../function-table.ts'
import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import { hasErrors, inOrder, type Problem } from '../problem.ts'
import { readWorkflow, type ReadFile } from '../read/document.ts'
import { checkLintRules } from './lint-rules.ts'
import { checkSemantics } from './semantic-checks.ts'
import { reporter, type Report } from './report.ts'
import { checkStructure } from './structure.ts'

const OF_ONE_TEXT: ReadonlySet<string> = new Set([
  'template-syntax',
  'unknown-filter',
  'call-in-template',
  'expression-syntax',
  'unknown-function',
  'refused-function',
])

/** Reads a workflow and runs all checks that need no other file. */
export const readChecked = (
  text: string,
  file: string,
  functions: FunctionTable,
  limits: ReadLimits = READ_LIMITS,
): ReadFile => {
  const read = readWorkflow(text, file, limits)
  const { list } = read
  if (read.workflow === undefined)
    return { ...read, problems: [...inOrder(read.problems), ...list.rest(file)] }
  // A value of the wrong form is kept, so that the other rules apply.
  const misshapen = hasErrors(read.problems.filter(({ rule }) => rule !== 'wrong-form'))
  // Rules about relations between fields are skipped if the structure has errors; rules about a single text still apply.
  const report = misshapen
    ? only(OF_ONE_TEXT, reporter(file, read.locate, list))
    : reporter(file, read.locate, list)
  if (!misshapen) {
    checkStructure(read.workflow, report)
    checkLintRules(read.workflow, report, functions)
  }
  // An item of the wrong type is left out, so that the positions of the items after it are unknown.
  if (!read.problems.some(({ rule }) => rule === 'wrong-type'))
    checkSemantics(read.workflow, report, functions, limits)
  return { ...read, problems: [...inOrder(list.problems), ...list.rest(file)] }
}

const only =
  (rules: ReadonlySet<string>, report: Report): Report =>
  (path, rule, ...rest) => {
    if (rules.has(rule)) report(path, rule, ...rest)
  }

/** All problems of one workflow text, sorted by position. Never throws. */
export const lint = (
  text: string,
  file: string,
  functions: FunctionTable,
  limits?: ReadLimits,
): Problem[] => [...readChecked(text, file, functions, limits).problems]
