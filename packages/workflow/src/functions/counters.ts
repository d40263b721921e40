import { databaseOf } from './database-of.ts'
import { fn, textArg, type FunctionDefinition } from './define.ts'
import { pathArg } from './files.ts'
import { countLines, linesOf } from './lines.ts'
import { lineSeverity } from './severity.ts'

export const SEVERITY_WORDS = ['critical', 'high', 'medium', 'low'] as const

/** Adds the lines of a file to a counter; 0 sets it back. */
const counter = (name: string): FunctionDefinition =>
  fn(
    `db_total_${name}(path)`,
    'number',
    `Adds the non-empty lines of a file to the number of ${name} of the workspace; 0 sets it back. Answers the number.`,
    async (args, at) => {
      const path = textArg(args, 0)
      const by = /^\d*$/.test(path)
        ? path === '0' || path === ''
          ? ('reset' as const)
          : Number(path)
        : await countLines(pathArg(args, 0, at), at)
      return await databaseOf(at).count(at.workspace, name, by)
    },
  )

const severityCounter = (severity: string): FunctionDefinition =>
  fn(
    `db_vuln_${severity}(path)`,
    'number',
    `Adds the findings of severity ${severity} in a file to the workspace's number. Answers the number.`,
    async (args, at) => {
      let count = 0
      for await (const line of linesOf(pathArg(args, 0, at), at)) if (lineSeverity(line) === severity) count++
      return await databaseOf(at).count(at.workspace, `vuln_${severity}`, count)
    },
  )

/** Numbers of the workspace that workflows keep. */
export const COUNTER_FUNCTIONS: readonly FunctionDefinition[] = [
  ...['urls', 'subdomains', 'assets', 'vulns', 'ips', 'links', 'content', 'archive'].map(counter),
  ...SEVERITY_WORDS.map(severityCounter),
]
