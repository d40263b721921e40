import { placeOf, type Problem, type Severity } from '../problem.ts'

export type ProblemFormat = 'text' | 'json' | 'github' | 'sarif'

const text = (problems: readonly Problem[]): string =>
  problems
    .map((problem) => {
      const { severity, rule, message, hint } = problem
      return `${placeOf(problem)}: ${severity}: ${message} [${rule}]${hint === '' ? '' : `\n    ${hint}`}`
    })
    .join('\n')

const GITHUB: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }

/** GitHub workflow commands escape their special characters as percent codes. */
const escaped = (value: string, property: boolean): string =>
  value
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
    .replaceAll(property ? /[:,]/g : /(?!)/g, (char) => (char === ':' ? '%3A' : '%2C'))

const github = (problems: readonly Problem[]): string =>
  problems
    .map(({ file, line, column, severity, rule, message, hint }) => {
      const place = line === 0 ? '' : `,line=${line},col=${column}`
      const body = hint === '' ? message : `${message} ${hint}`
      return `::${GITHUB[severity]} file=${escaped(file, true)}${place},title=${escaped(rule, true)}::${escaped(body, false)}`
    })
    .join('\n')

const SARIF: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

/** Readers of SARIF take the path for a URI. */
const uriOf = (file: string): string => file.split(/[\\/]/).map(encodeURIComponent).join('/')

const sarif = (problems: readonly Problem[], version: string): string => {
  const rules = [...new Set(problems.map(({ rule }) => rule))].sort()
  const results = problems.map(({ file, line, column, severity, rule, message, hint }) => ({
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level: SARIF[severity],
    message: { text: hint === '' ? message : `${message} ${hint}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: Math.max(1, line), startColumn: Math.max(1, column) },
        },
      },
    ],
  }))
  const driver = { name: 'scanfarm workflow lint', version, rules: rules.map((id) => ({ id })) }
  const report = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  }
  return JSON.stringify(report, null, 2)
}

/** Formats problems as `text`, as `json`, as GitHub annotations, or as SARIF 2.1.0, whose readers expect relative paths. */
export const renderProblems = (
  problems: readonly Problem[],
  format: ProblemFormat,
  version = '0',
): string => {
  switch (format) {
    case 'text':
      return text(problems)
    case 'json':
      return JSON.stringify(problems, null, 2)
    case 'github':
      return github(problems)
    case 'sarif':
      return sarif(problems, version)
  }
}
