import { asList, asText, at, isRecord } from '../fields.ts'
import { textOf, unreadable, type Imported } from './read-body.ts'
import { parseJson } from './read-json.ts'
import { ERROR, finding, hostPort } from './records.ts'

/** A line of a report, and the place that it concerns. */
interface Line {
  readonly id: string
  readonly severity: string
  readonly text: string
  readonly host: string
  readonly port: string
  readonly line: unknown
}

const FINDINGS: ReadonlySet<string> = new Set(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'])

/** Reads both forms of report: a flat list of lines (--jsonfile), and lines by host (--jsonfile-pretty). */
export async function* testsslFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const report = parseJson(await textOf(body))
  const lines = [...(Array.isArray(report) ? flatLines(report) : prettyLines(report))]
  // A scan that tested nothing, or was interrupted, is not one without findings.
  if (lines.length === 0) yield ERROR
  const incomplete = new Set(lines.filter(isIncomplete).map(({ host }) => host))
  for (const host of new Set(lines.map((line) => line.host)))
    if (host !== '' && !incomplete.has(host)) yield { kind: 'reached', host }
  for (const line of lines) {
    if (isProblem(line)) yield ERROR
    else if (FINDINGS.has(line.severity)) yield record(line)
  }
}

function* flatLines(report: readonly unknown[]): Generator<Line> {
  for (const line of report) {
    if (!isRecord(line) || !Object.hasOwn(line, 'finding')) throw notTestssl()
    // `name/address`
    const [host = ''] = asText(line['ip']).split('/')
    yield lineOf(line, host, asText(line['port']))
  }
}

function* prettyLines(report: unknown): Generator<Line> {
  if (!Array.isArray(at(report, 'scanResult'))) throw notTestssl()
  for (const result of asList(at(report, 'scanResult'))) {
    const host = asText(at(result, 'targetHost')) || asText(at(result, 'ip'))
    const lines = isRecord(result) && Object.hasOwn(result, 'id') ? [result] : Object.values(result ?? {})
    for (const line of lines.flat())
      if (isRecord(line) && Object.hasOwn(line, 'severity'))
        yield lineOf(line, host, asText(at(result, 'port')))
  }
  const time = asText(at(report, 'scanTime'))
  if (!/^\d+$/.test(time)) yield lineOf({ id: 'scanTime', severity: 'WARN', finding: time }, '', '')
}

const notTestssl = () => unreadable('it is not JSON of testssl (--jsonfile, --jsonfile-pretty)')

const lineOf = (line: unknown, host: string, port: string): Line => ({
  id: asText(at(line, 'id')),
  severity: asText(at(line, 'severity')),
  text: asText(at(line, 'finding')),
  host,
  port,
  line,
})

const isProblem = ({ id, severity }: Line): boolean =>
  id === 'scanProblem' || severity === 'FATAL' || (id === 'scanTime' && severity === 'WARN')

/** Warnings say that a check was not possible, except those on the local OpenSSL. */
const isIncomplete = (line: Line): boolean =>
  isProblem(line) ||
  (line.severity === 'WARN' && !/^(engine_problem|old_fart|too_old_openssl)$/.test(line.id))

const record = ({ id, severity, text, host, port, line }: Line): Imported => {
  const cves = asText(at(line, 'cve'))
    .split(' ')
    .filter((cve) => cve !== '')
  const [name = '', certificate = ''] = id.split(/ (?=<)/)
  return finding({
    vuln_info: `testssl-${name}${certificate}`,
    vuln_title: `${name}: ${text}`.slice(0, 200),
    vuln_desc: [text, ...cves, asText(at(line, 'cwe')), asText(at(line, 'hint'))]
      .filter((part) => part !== '')
      .join('\n'),
    severity: severity.toLowerCase(),
    asset_type: 'network',
    asset_value: hostPort(host, port),
    tags: ['testssl', 'tls', ...cves],
    raw_vuln_json: JSON.stringify(line),
  })
}
