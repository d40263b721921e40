import { HEURISTICS, type Heuristics } from '@scanfarm/contracts'
import type { ExecuteInput } from '../input.ts'

const isHeuristics = (word: string): word is Heuristics => HEURISTICS.some((known) => known === word)

export const heuristicsProblem = (word: string): string | undefined =>
  isHeuristics(word) ? undefined : `heuristics_check is one of ${HEURISTICS.join(', ')}, not ${word}`

/** The level that the caller requests, else the preference of the workflow. Unknown values count as `basic`. */
export const heuristicsOf = ({
  params,
  workflow,
}: Pick<ExecuteInput, 'params'> & Partial<Pick<ExecuteInput, 'workflow'>>): Heuristics => {
  const word = params['heuristics_check'] || workflow?.root.preferences?.heuristics_check
  return word !== undefined && isHeuristics(word) ? word : 'basic'
}
