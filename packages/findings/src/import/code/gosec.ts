import { asList, asText, at } from '../../fields.ts'
import { Fingerprints, textWord } from '../fingerprints.ts'
import { isList, jsonReport } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { pathOf, ScannedFolder } from '../paths.ts'
import { failed, finding, paragraphs, unusable } from '../records.ts'

const CONFIDENCES: Readonly<Record<string, string>> = { HIGH: 'Certain', MEDIUM: 'Firm', LOW: 'Tentative' }

const PATTERNS = ['Golang errors.*', 'Issues', 'Issues.[]']

/** Reads JSON of gosec. A file that does not compile has not been checked. */
export async function* gosecFindings(body: AsyncIterable<Uint8Array>, root = ''): AsyncGenerator<Imported> {
  const fingerprints = new Fingerprints()
  const folder = new ScannedFolder()
  const issues: (readonly [issue: unknown, line: number])[] = []
  const broken = new Map<string, string>()
  for await (const part of jsonReport(body, isList, ...PATTERNS)) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'Issues.[]') {
      folder.add(pathOf(asText(at(part.value, 'file'))))
      issues.push([part.value, part.line])
    } else if (part.at !== 'Issues')
      broken.set(part.path.at(-1) ?? '', asText(at(asList(part.value)[0], 'error')))
  }
  if (root === '') yield* folder.found()
  const relative = (path: string): string => folder.relative(pathOf(path), [pathOf(root)])
  for (const [file, reason] of broken) {
    // Problems of a package have no file; usually they are those of its files.
    if (file !== '') yield failed(reason, { file: relative(file) })
    else if (broken.size === 1) yield failed(reason)
  }
  for (const [issue, line] of issues)
    if (!isSuppressed(issue))
      yield issueRecord(issue, relative(asText(at(issue, 'file'))), fingerprints, line)
}

/** `-track-suppressions` lists issues that comments accept. */
const isSuppressed = (issue: unknown): boolean =>
  at(issue, 'nosec') === true || asList(at(issue, 'suppressions')).length > 0

/** The first line of an issue; the report has it as `10` or `10-12`. */
const lineOf = (issue: unknown): string => /^\d+/.exec(asText(at(issue, 'line')))?.[0] ?? ''

/** The text of the line. The report has lines around it, as `10: text`. */
const lineText = (issue: unknown): string => {
  const start = `${lineOf(issue)}: `
  const code = asText(at(issue, 'code'))
  return (code.split('\n').find((line) => line.startsWith(start)) ?? code).slice(start.length)
}

const issueRecord = (
  issue: unknown,
  file: string,
  fingerprints: Fingerprints,
  reportLine: number,
): Imported => {
  const [rule, details, cwe] = [
    asText(at(issue, 'rule_id')),
    asText(at(issue, 'details')),
    asText(at(issue, 'cwe', 'id')),
  ]
  const line = lineOf(issue)
  return finding(
    {
      vuln_info: rule,
      vuln_title: details,
      vuln_desc: paragraphs(details, asText(at(issue, 'code')), asText(at(issue, 'cwe', 'url'))),
      severity: asText(at(issue, 'severity')),
      confidence: CONFIDENCES[asText(at(issue, 'confidence'))] ?? '',
      asset_type: 'file',
      asset_value: line === '' ? file : `${file}:${line}`,
      tags: ['gosec', ...(cwe === '' ? [] : [`CWE-${cwe}`])],
      fingerprint: fingerprints.of({
        check: rule,
        file,
        lasting: [`text ${textWord(lineText(issue))}`],
        line,
        column: asText(at(issue, 'column')),
        rest: details,
      }),
      raw_vuln_json: JSON.stringify(issue),
    },
    reportLine,
  )
}
