import {
  NOTHING_REPORTED,
  type CaseExpected,
  type FoundRecords,
  type RecordQuery,
  type RecordRow,
  type RunRecorder,
  type StepClosed,
  type StepOpened,
} from '@scanfarm/contracts'
import { findingsService } from '@scanfarm/worker'
import type { CaseFolders } from './case-folders.ts'

const nothing = (): void => undefined
const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** One line for each record of an import. */
const linesOf = ({ records }: FoundRecords): string[] =>
  records.kind === 'vulnerability'
    ? records.items.map(({ severity, vuln_info: id, vuln_title: title, asset_value: place }) =>
        [severity, id, title, place].filter(Boolean).join(' | '),
      )
    : records.items.map(({ asset_type: type, asset_value: value, title, technologies }) =>
        [type, value, title, technologies.join(', ')].filter(Boolean).join(' | '),
      )

/** Whether a filter of `RecordQuery` selects a record. The first run of all records is this one. */
const fits = (row: RecordRow, { filter }: RecordQuery): boolean =>
  Object.entries(filter).every(([name, wanted]) => {
    if (name === 'first_seen_run') return true
    const value = row[name]
    if (typeof value === 'number') return String(value) === wanted
    if (typeof value !== 'string') return false
    return name === 'asset_value' ? value.includes(wanted) : wanted.split(',').includes(value)
  })

/** Collects what a run does, in place of a database. */
export const observe = ({ hide }: CaseFolders) => {
  const opened = new Map<string, StepOpened>()
  const closed = new Map<string, StepClosed>()
  const lines: Record<FoundRecords['records']['kind'], Set<string>> = {
    asset: new Set(),
    vulnerability: new Set(),
  }
  const imported: Record<FoundRecords['records']['kind'], RecordRow[]> = { asset: [], vulnerability: [] }
  const counters = new Map<string, number>()
  const reports = new Set<string>()
  const recorder: RunRecorder = {
    plan: nothing,
    stepOpened: (step) => void opened.set(step.key, step),
    output: nothing,
    stepClosed: (step) => void closed.set(step.key, step),
    tally: nothing,
    currentPid: nothing,
    artifact: ({ type, path }) => void (type === 'report' && reports.add(path)),
    event: nothing,
    log: nothing,
  }
  const database = findingsService(
    {
      async importRecords(_run, found) {
        const { kind, items } = found.records
        for (const line of linesOf(found)) lines[kind].add(hide(line))
        imported[kind].push(...items)
        const { errors } = found
        return { new: items.length, updated: 0, unchanged: 0, known: 0, merged: 0, errors }
      },
      knownFolder: async () => undefined,
      readRecords: async (_run, query) => imported[query.kind].filter((row) => fits(row, query)),
      readRuns: async () => [],
      readReport: async () => NOTHING_REPORTED,
      async addToCounter(_run, { name, add }) {
        const value = add === 'reset' ? 0 : (counters.get(name) ?? 0) + add
        counters.set(name, value)
        return value
      },
    },
    { runId: 0, attempt: 1 },
    {},
  )
  const factsOf = (key: string): CaseExpected['steps'][string] => {
    const step = closed.get(key)
    if (step === undefined) return 'running'
    const { status } = step
    const exports = Object.entries(step.exports).map(([name, value]) => [name, hide(value)] as const)
    const failed = status === 'failed'
    if (!failed && exports.length === 0) return status
    return {
      status,
      ...(failed ? { error: hide(step.errorMessage) } : {}),
      ...(exports.length === 0 ? {} : { exports: Object.fromEntries(exports) }),
    }
  }
  /** Steps by module and name; those of the same name, like items of a loop, also by their key. */
  const stepFacts = (): CaseExpected['steps'] => {
    const nameOf = ({ module, name }: StepOpened): string => (module === '' ? name : `${module}/${name}`)
    const named = Map.groupBy(opened.values(), nameOf)
    return Object.fromEntries(
      [...named].flatMap(([name, same]) =>
        same.map(({ key }) => [same.length === 1 ? name : `${name} (${key})`, factsOf(key)]),
      ),
    )
  }
  return {
    recorder,
    database,
    reports: (): string[] => [...reports].sort(byText),
    facts: (): Pick<CaseExpected, 'steps' | 'findings' | 'assets'> => ({
      steps: stepFacts(),
      findings: [...lines.vulnerability].sort(byText),
      assets: [...lines.asset].sort(byText),
    }),
  }
}
