import type { FieldError } from '@scanfarm/contracts'
import { targetMismatch, type ResolvedWorkflow } from '@scanfarm/workflow'

/** Targets of a schedule that its workflow refuses: every run on them would fail. `given`: the fields of the request. */
export const targetTypeProblems = (
  resolved: ResolvedWorkflow,
  targets: readonly string[],
  given: { readonly target?: string | undefined; readonly targets?: readonly string[] | undefined },
): FieldError[] =>
  targets.flatMap((target) => {
    const message = target === '' ? undefined : targetMismatch(resolved, target)
    return message === undefined ? [] : [{ path: pathOf(target, given), message }]
  })

/** Each target comes once, so that its place in the request is not its place among the targets. */
const pathOf = (target: string, given: Parameters<typeof targetTypeProblems>[2]): string => {
  const index = given.targets?.indexOf(target) ?? -1
  if (index >= 0) return `/targets/${index}`
  return given.target ? '/target' : '/targets'
}
