import { databaseOf } from './database-of.ts'
import { local, type FunctionDefinition } from '../define.ts'
import { countLines, linesOf } from '../files/lines.ts'
import { fieldOf, parseObject } from '../text/jsonl.ts'

export const SEVERITY_WORDS = ['critical', 'high', 'medium', 'low'] as const

/** Adds the number of lines of a file to a counter; 0 resets it. */
const counter = (name: string): FunctionDefinition =>
  local(
    `db_total_${name}(path): number`,
    `Adds the non-empty lines of a file to the number of ${name} of the workspace; 0 resets it. Returns the number.`,
    async (at) => {
      const path = at.text(0)
      const by = /^\d*$/.test(path)
        ? path === '0' || path === ''
          ? ('reset' as const)
          : Number(path)
        : await countLines(at.path(0), at)
      return await databaseOf(at).count(at.workspace, name, by)
    },
  )

const severityCounter = (severity: string): FunctionDefinition =>
  local(
    `db_vuln_${severity}(path): number`,
    `Adds the findings of severity ${severity} in a file to the workspace's number. Returns the number.`,
    async (at) => {
      let count = 0
      for await (const line of linesOf(at.path(0), at)) if (lineSeverity(line) === severity) count++
      return await databaseOf(at).count(at.workspace, `vuln_${severity}`, count)
    },
  )

/** Counters of the workspace for workflows. */
export const COUNTER_FUNCTIONS: readonly FunctionDefinition[] = [
  ...['urls', 'subdomains', 'assets', 'vulns', 'ips', 'links', 'content', 'archive'].map(counter),
  ...SEVERITY_WORDS.map(severityCounter),
]

const SEVERITIES = new Set(['critical', 'high', 'medium', 'low', 'info'])

/** The severity in one line of a scanner's output, JSON or `[high]`; `""` if there is none. */
export const lineSeverity = (line: string): string => {
  const row = /^\s*\{/.test(line) ? parseObject(line) : undefined
  if (row === undefined) return /\[(critical|high|medium|low|info)\]/i.exec(line)?.[1]?.toLowerCase() ?? ''
  const said = fieldOf(row, 'severity') ?? fieldOf(row, 'info.severity')
  const word = typeof said === 'string' ? said.toLowerCase() : ''
  return SEVERITIES.has(word) ? word : 'info'
}
