import type { WorkflowProblem } from '@scanfarm/contracts'

/** One problem of a workflow file. */
export type Problem = WorkflowProblem
export type Severity = Problem['severity']

/** `file:line:column` without unknown parts, as editors and terminals understand it. */
export const placeOf = ({ file, line, column }: Problem): string =>
  line === 0 ? file : `${file}:${line}:${column}`

/** A workflow that cannot be used: it does not exist, is invalid, or refers to an invalid one. */
export class WorkflowError extends Error {
  override readonly name = 'WorkflowError'
  /** `not-found`: no such name; `other-kind`: the name belongs to the other kind; `invalid`: see `problems`. */
  readonly reason: 'not-found' | 'other-kind' | 'invalid'
  readonly problems: readonly Problem[]

  constructor(reason: WorkflowError['reason'], message: string, problems: readonly Problem[] = []) {
    super(message)
    this.reason = reason
    this.problems = problems
  }
}

export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')

/** Sorted by severity, then by line. */
export const inOrder = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column)
