import { renderProblems, type Problem } from '@scanfarm/workflow'
import { plain } from '../client/table.ts'

/** `file:line:column: severity: message [rule]`, as editors and CI systems read it; the hint in a line of its own. */
export const problemLines = (problems: readonly Problem[]): string[] =>
  problems.flatMap((problem) => renderProblems([problem], 'text').split('\n').map(plain))
