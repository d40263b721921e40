export type Severity = 'error' | 'warning' | 'info'

/** One finding about a workflow file. Lines and columns count from 1; 0 when the place is unknown. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Stable name such as `unknown-key`; see docs/workflows.md. */
  readonly rule: string
  readonly severity: Severity
  readonly message: string
  /** What to do about it, or `""`. */
  readonly hint: string
}

/** `file:line:column` as editors and terminals understand it; parts that are unknown are left out. */
export const placeOf = ({ file, line, column }: Problem): string =>
  line === 0 ? file : `${file}:${line}:${column}`

/** A workflow that cannot be used: missing, broken, or broken through what it refers to. */
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

/** Errors first line by line, as a person reads a file. */
export const inOrder = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column)
