import type { CaseExpected } from '@scanfarm/contracts'
import type { WrongCalls } from './stand-ins.ts'

/** Most lines that are shown of one difference. */
const MAX_LINES = 20

const textOf = (value: unknown): string => {
  if (value === undefined) return '(none)'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The lines between the common beginning and the common end of two texts. */
const changedLines = (before: string, after: string): string[] => {
  const [old, now] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let [oldEnd, nowEnd] = [old.length, now.length]
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1] === now[nowEnd - 1])
    [oldEnd, nowEnd] = [oldEnd - 1, nowEnd - 1]
  const lines = [
    ...old.slice(start, oldEnd).map((line) => `  - ${line}`),
    ...now.slice(start, nowEnd).map((line) => `  + ${line}`),
  ]
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES), `  (and ${lines.length - MAX_LINES} more lines)`]
}

const differ = (what: string, expected: unknown, seen: unknown): string[] => {
  const [before, after] = [textOf(expected), textOf(seen)]
  return before === after ? [] : [what, ...changedLines(before, after)]
}

const namesOf = (...records: readonly object[]): Set<string> => new Set(records.flatMap(Object.keys))

const differAll = (
  what: (name: string) => string,
  expected: Readonly<Record<string, unknown>>,
  seen: Readonly<Record<string, unknown>>,
): string[] => [...namesOf(expected, seen)].flatMap((name) => differ(what(name), expected[name], seen[name]))

type StepFacts = Exclude<CaseExpected['steps'][string], string>

const factsOf = (step: CaseExpected['steps'][string] | undefined): Partial<StepFacts> =>
  typeof step === 'string' ? { status: step } : (step ?? {})

const stepLines = (expected: CaseExpected['steps'], seen: CaseExpected['steps']): string[] =>
  [...namesOf(expected, seen)].flatMap((key) => {
    const [old, now] = [factsOf(expected[key]), factsOf(seen[key])]
    const status = differ(`step ${key}`, old.status, now.status)
    // A step that was not executed has nothing else to compare.
    if (old.status === undefined || now.status === undefined) return status
    return [
      ...status,
      ...differ(`error of step ${key}`, old.error, now.error),
      ...differAll((name) => `export ${name} of step ${key}`, old.exports ?? {}, now.exports ?? {}),
    ]
  })

const sorted = (lines: readonly string[]): string | undefined => [...lines].sort().join('\n') || undefined

const listLines = (what: string, expected: readonly string[], seen: readonly string[]): string[] =>
  differ(what, sorted(expected), sorted(seen))

const callLines = ({ unknown, missing }: WrongCalls): string[] => [
  ...unknown.flatMap((call) => ['a call that the case does not have', `  + ${JSON.stringify(call)}`]),
  ...missing.flatMap((call) => ['a call of the case that was not made', `  - ${JSON.stringify(call)}`]),
]

/** What differs from the case, as lines: `-` is what it expects, `+` is what happened. */
export const differences = (expected: CaseExpected, seen: CaseExpected, calls: WrongCalls): string[] => [
  ...differ('status', expected.status, seen.status),
  ...differ('outcome', expected.outcome, seen.outcome),
  ...listLines('reasons of the outcome', expected.reasons, seen.reasons),
  ...stepLines(expected.steps, seen.steps),
  ...listLines('findings', expected.findings, seen.findings),
  ...listLines('assets', expected.assets, seen.assets),
  ...differAll((path) => `file ${path}`, expected.files, seen.files),
  ...callLines(calls),
]
