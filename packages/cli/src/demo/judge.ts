import type { LabTarget } from './lab.ts'
import type { Result } from './results.ts'
import type { Infra } from './watch-machines.ts'

/** Artifacts of every run of the demo's flow. */
const REPORTS = ['survey-report', 'survey-findings']

/** Differences from what the lab expects; empty if there are none. */
export function judge(results: readonly Result[], targets: readonly LabTarget[]): string[] {
  const byTarget = new Map(results.map((result) => [result.target, result]))
  return targets.flatMap((expected) => {
    const result = byTarget.get(expected.target)
    if (!result) return [`${expected.target}: no run`]
    if (result.status !== 'completed') return [`${expected.target}: ${result.status} (${result.error})`]
    const found = new Set(result.findings.map(({ title }) => title))
    const missing = expected.finds.filter((title) => !found.has(title))
    const problems = missing.map((title) => `${expected.target} (${expected.what}): not found: ${title}`)
    if (!expected.open && found.size > 0) problems.push(`${expected.target}: findings on a closed port`)
    const absent = REPORTS.filter((name) => !result.artifacts.includes(name))
    problems.push(...absent.map((name) => `${expected.target}: the artifact ${name} is missing`))
    return problems
  })
}

/** Differences from what a cloud run must leave: every machine had work, and no machine is left. `left`: names on the engine. */
export function judgeMachines(infra: Infra, results: readonly Result[], left: readonly string[]): string[] {
  const idle = infra.details.filter(({ name }) => !results.some(({ machine }) => machine === name))
  const open = infra.details.filter(({ status }) => status !== 'destroyed')
  return [
    ...(infra.status === 'destroyed' ? [] : [`the infrastructure is ${infra.status}: ${infra.message}`]),
    ...idle.map(({ name }) => `${name}: no run used the machine`),
    ...open.map(({ name, status, message }) => `${name}: ${status} (${message})`),
    ...left.map((name) => `${name}: the docker engine still has it`),
  ]
}
