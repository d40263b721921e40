import type { LabTarget } from './lab.ts'
import type { Result } from './results.ts'

/** What is not as the lab says it must be; empty when all is well. */
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
    if (result.artifacts < 2) problems.push(`${expected.target}: the report is missing`)
    return problems
  })
}
