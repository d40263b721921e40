import type { FieldError } from '@scanfarm/contracts'
import { placeOf, type Problem } from '@scanfarm/workflow'

const MAX_DETAILS = 50

/** Findings about a workflow file as details of a refusal: the place stands in `path`, as `file:line:column`. */
export const problemDetails = (problems: readonly Problem[]): FieldError[] =>
  problems
    .filter(({ severity }) => severity === 'error')
    .slice(0, MAX_DETAILS)
    .map((problem) => ({
      path: placeOf(problem),
      message: problem.hint === '' ? problem.message : `${problem.message} ${problem.hint}`,
    }))
