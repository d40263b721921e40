import { plural } from '@scanfarm/contracts'
import { printTable } from '../client/table.ts'
import { printLine, type Terminal } from '../terminal.ts'
import type { EndedRun } from './planned.ts'

/** With more runs, only those that did not complete or did not do all of their work are listed, up to this number. */
const MAX_ROWS = 100

const STATUSES = ['completed', 'failed', 'cancelled'] as const

/** The same fields as a job of the API. */
export const countsOf = (ended: readonly EndedRun[]) => {
  const count = (status: (typeof STATUSES)[number]): number =>
    ended.filter(({ result }) => result.status === status).length
  return {
    total_runs: ended.length,
    completed: count('completed'),
    failed: count('failed'),
    cancelled: count('cancelled'),
  }
}

/** Runs that completed without doing all of their work. */
export const incompleteRuns = (ended: readonly EndedRun[]): EndedRun[] =>
  ended.filter(
    ({ result }) =>
      result.status === 'completed' && result.outcome !== undefined && result.outcome !== 'clean',
  )

export const reasonOf = ({ errorMessage, tally }: EndedRun['result']): string =>
  errorMessage === '' ? (tally?.reasons ?? []).join('; ') : errorMessage

export const runsNotCompleted = (ended: readonly EndedRun[]): EndedRun[] =>
  ended.filter(({ result }) => result.status !== 'completed')

/** The outcome of every target and workflow. */
export const printSummary = (terminal: Terminal, ended: readonly EndedRun[]): void => {
  const { total_runs: total, ...counts } = countsOf(ended)
  const shown = (
    ended.length <= MAX_ROWS ? ended : [...runsNotCompleted(ended), ...incompleteRuns(ended)]
  ).slice(0, MAX_ROWS)
  if (shown.length > 0)
    printTable(
      terminal,
      [
        { title: 'STATUS', value: ({ result }) => result.status },
        { title: 'OUTCOME', value: ({ result }) => result.outcome },
        { title: 'SECONDS', value: ({ seconds }) => seconds.toFixed(1) },
        { title: 'WORKFLOW', value: ({ run }) => run.workflow.root.name },
        { title: 'TARGET', value: ({ run }) => run.target.text },
        { title: 'FOLDER', value: ({ run }) => run.output },
        { title: 'WHY', value: ({ result }) => reasonOf(result) },
      ],
      shown,
    )
  const words = STATUSES.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`)
  printLine(terminal, `${plural(total, 'run')}: ${words.join(', ')}`)
}
