import type { FieldError } from '@scanfarm/contracts'
import { targetMismatch, type ResolvedWorkflow } from '@scanfarm/workflow'

/** Targets of a schedule that its workflow refuses: every run on them would fail. `field` is target or targets. */
export const targetTypeProblems = (
  resolved: ResolvedWorkflow,
  targets: readonly string[],
  field: string,
): FieldError[] =>
  targets.flatMap((target, index) => {
    const message = target === '' ? undefined : targetMismatch(resolved, target)
    return message === undefined
      ? []
      : [{ path: field === 'targets' ? `/targets/${index}` : `/${field}`, message }]
  })
