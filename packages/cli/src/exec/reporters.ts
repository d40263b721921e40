import { printJson } from '../client/table.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { createJsonNarrator, createNarrator } from '../workflows/narrator.ts'
import { createRunDocument, type RunDocument } from '../workflows/run-document.ts'
import { labelled } from './labelled.ts'
import { labelOf, type EndedRun, type PlannedRun } from './planned.ts'
import type { Reporter } from './run-all.ts'
import { countsOf, printSummary } from './summary.ts'

/** A reporter that is also notified when all runs have ended. */
export interface CommandReporter extends Reporter {
  finish(ended: readonly EndedRun[]): void
}

export interface Scale {
  readonly runs: number
  readonly workflows: number
  readonly dryRun: boolean
}

/** Prints steps and output as they happen, with a label before each line if there are several runs. */
export const textReporter = (terminal: Terminal, { runs, workflows, dryRun }: Scale): CommandReporter => {
  const open = new Map<PlannedRun, { flush(): void }>()
  return {
    begin(run) {
      if (runs === 1) return createNarrator(terminal)
      const own = labelled(terminal, labelOf(run, workflows))
      open.set(run, own)
      return createNarrator(own)
    },
    ended({ run }) {
      open.get(run)?.flush()
      open.delete(run)
    },
    finish(ended) {
      if (runs > 1) return printSummary(terminal, ended)
      if (!dryRun) for (const { run } of ended) printLine(terminal, `files: ${run.output}`)
    },
  }
}

/** Prints the same as one JSON object per line. With several runs, each object names its run. */
export const linesReporter = (terminal: Terminal, { runs }: Scale): CommandReporter => {
  const facts = ({ uuid, target, workflow }: PlannedRun): object =>
    runs === 1 ? {} : { run: uuid, target: target.text, workflow: workflow.root.name }
  const print = (object: object): void => printLine(terminal, JSON.stringify(object))
  return {
    begin: (run) => createJsonNarrator(terminal, facts(run)),
    ended: ({ run, result: { status, errorMessage, outcome = '', tally } }) =>
      print({
        what: 'ended',
        ...facts(run),
        status,
        errorMessage,
        outcome,
        outcomeReasons: tally?.reasons ?? [],
      }),
    finish: (ended) => void (runs > 1 && print({ what: 'summary', ...countsOf(ended) })),
  }
}

/**
 * Prints one JSON document to standard output: the run, or a list of several runs with their counts, each written when
 * it ends. The steps are printed to standard error.
 */
export const documentReporter = (terminal: Terminal, scale: Scale): CommandReporter => {
  const { runs, dryRun } = scale
  const open = new Map<PlannedRun, RunDocument>()
  const live = textReporter({ ...terminal, out: terminal.err }, scale)
  let before = '{"runs":[\n'
  return {
    begin(run) {
      const document = createRunDocument(live.begin(run))
      open.set(run, document)
      return document.recorder
    },
    ended(ended) {
      live.ended(ended)
      const document = open.get(ended.run)?.finish(ended, dryRun)
      open.delete(ended.run)
      if (runs === 1) return printJson(terminal, document)
      terminal.out.write(`${before}${JSON.stringify(document)}`)
      before = ',\n'
    },
    finish(ended) {
      if (runs === 1) return
      const start = before === ',\n' ? '' : before
      printLine(terminal, `${start}\n],${JSON.stringify(countsOf(ended)).slice(1)}`)
    },
  }
}
