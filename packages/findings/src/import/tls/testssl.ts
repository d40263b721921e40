import { asText, at, isRecord, type Unknown } from '../../fields.ts'
import { spelled } from '../paths.ts'
import { unreadable, type Imported, type ReportPart } from '../read-body.ts'
import { jsonBesideLog } from '../json/json-report.ts'
import { failed, failedServer, finding, hostPort, paragraphs, unusable } from '../records.ts'

/** A line of a report, and the place that it concerns. */
interface Line {
  readonly id: string
  readonly severity: string
  readonly text: string
  readonly host: string
  readonly address: string
  readonly port: string
  readonly line: unknown
}

const FINDINGS: ReadonlySet<string> = new Set(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'])

/**
 * Reads both forms of report: a flat list of lines (--jsonfile), and lines by host (--jsonfile-pretty). Where a name has
 * several addresses, each has its own findings.
 */
export async function* testsslFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const [hosts, incomplete] = [new Set<string>(), new Set<string>()]
  const addresses = new Map<string, Set<string>>()
  const tested = new Set<string>()
  const [found, problems]: [Line[], Line[]] = [[], []]
  let [isReport, isClean] = [false, false]
  for await (const part of linesOf(body)) {
    if (part.kind === 'problem') {
      yield unusable(part.reason, part.line)
      continue
    }
    isReport = true
    isClean ||= part.isClean === true
    for (const line of part.lines) {
      if (isProblem(line)) {
        problems.push(line)
        continue
      }
      const place = placeOf(line)
      if (line.address !== '') addresses.set(place, (addresses.get(place) ?? new Set()).add(line.address))
      if (line.host !== '') tested.add(place)
      if (line.host !== '') hosts.add(line.host)
      if (isIncomplete(line)) incomplete.add(line.host)
      if (FINDINGS.has(line.severity)) found.push(line)
    }
  }
  if (!isReport) throw unreadable('it is not JSON of testssl')
  // A scan that tested nothing, or was interrupted, is not one without findings.
  if (tested.size + problems.length === 0 && !isClean) yield failed('testssl tested no server')
  for (const problem of problems) yield failure(problem, tested)
  for (const host of hosts.difference(incomplete)) yield { kind: 'reached', host }
  for (const line of found)
    yield record(line, (addresses.get(placeOf(line))?.size ?? 0) > 1 ? line.address : '')
}

/** Lines, none where a part only shows the format. */
type Found =
  | Extract<ReportPart, { kind: 'problem' }>
  | { readonly kind: 'lines'; readonly lines: readonly Line[]; readonly isClean?: boolean }

/** An entry has its server and its lines, which are read one by one: a broken one loses no other. */
const ENTRY = 'scanResult.[]'

/**
 * testssl ends each report of a list with "Scan interrupted". It adds a server when its scan has ended, so this says nothing
 * about the servers in the report.
 */
const OF_LIST = /\s(?:--file|-iL)[\s=]/

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Found> {
  let entry: Record<string, unknown> = {}
  // The server may follow its lines.
  let found: unknown[] = []
  // With --severity the list of a clean scan is empty.
  let isClean = false
  let [invocation, time] = ['', '']
  const linesOfEntry = (): Line[] => [entry, ...found].flatMap((line) => entryLines(entry, line))
  const parts = ['', '[]', ENTRY, `${ENTRY}.*`, `${ENTRY}.*.[]`, 'scanTime', 'Invocation']
  for await (const part of jsonBesideLog(body, ...parts)) {
    if (part.kind === 'problem') yield part
    else if (part.at === '') {
      // Another report begins.
      yield* interruption(invocation, time)
      ;[invocation, time] = ['', '']
      isClean = Array.isArray(part.value)
    } else if (part.at === '[]') {
      isClean = false
      const line = flatLine(part.value)
      const isEndOfList = line.id === 'scanTime' && line.host === ''
      if (at(part.value, 'finding') !== undefined) yield { kind: 'lines', lines: isEndOfList ? [] : [line] }
    } else if (part.at === 'scanTime') time = asText(part.value)
    else if (part.at === 'Invocation') {
      invocation = asText(part.value)
      yield { kind: 'lines', lines: [] }
    } else if (part.at === ENTRY) {
      yield { kind: 'lines', lines: linesOfEntry() }
      entry = {}
      found = []
    } else if (part.at === `${ENTRY}.*` && !isRecord(part.value)) entry[part.path.at(-1) ?? ''] = part.value
    else found.push(part.value)
  }
  yield* interruption(invocation, time)
  if (isClean || Object.keys(entry).length + found.length > 0)
    yield { kind: 'lines', lines: linesOfEntry(), isClean }
}

const flatLine = (line: unknown): Line => {
  // `name/address`
  const [host = '', address = ''] = asText(at(line, 'ip')).split('/')
  return lineOf(line, spelled(host), address, asText(at(line, 'port')))
}

function* interruption(invocation: string, time: string): Generator<Found> {
  if (OF_LIST.test(invocation) || /^\d*$/.test(time)) return
  yield { kind: 'lines', lines: [lineOf({ id: 'scanTime', severity: 'WARN', finding: time }, '', '', '')] }
}

/** An entry may itself be a line, like scanProblem. */
const entryLines = (entry: Unknown, line: unknown): Line[] => {
  if (at(line, 'severity') === undefined) return []
  const address = asText(entry['ip'])
  return [lineOf(line, spelled(asText(entry['targetHost'])) || address, address, asText(entry['port']))]
}

const lineOf = (line: unknown, host: string, address: string, port: string): Line => ({
  id: asText(at(line, 'id')),
  severity: asText(at(line, 'severity')),
  text: asText(at(line, 'finding')),
  host,
  address,
  port,
  line,
})

const isProblem = ({ id, severity }: Line): boolean =>
  id === 'scanProblem' || severity === 'FATAL' || (id === 'scanTime' && severity === 'WARN')

const placeOf = ({ host, port }: Line): string => hostPort(host, port)

/** One of a list concerns its server, which a pretty report only names in the text. */
const failure = (line: Line, tested: ReadonlySet<string>): Imported => {
  const place = line.host === '' ? spelled(/'([^'\s]+)'/.exec(line.text)?.[1] ?? '') : placeOf(line)
  return failedServer(place, `${line.id}: ${line.text}`, tested)
}

/** Warnings say that a check was not possible, except those on the local OpenSSL. */
const isIncomplete = ({ id, severity }: Line): boolean =>
  severity === 'WARN' && !/^(engine_problem|old_fart|too_old_openssl)$/.test(id)

/** The address is only named where the name has several. */
const record = ({ id, severity, text, host, port, line }: Line, address: string): Imported => {
  const cves = asText(at(line, 'cve'))
    .split(' ')
    .filter((cve) => cve !== '')
  const [name = '', certificate = ''] = id.split(/ (?=<)/)
  return finding({
    vuln_info: `testssl-${name}${certificate}`,
    vuln_title: `${name}: ${text}`.slice(0, 200),
    vuln_desc: paragraphs(
      text,
      cves.join('\n'),
      asText(at(line, 'cwe')),
      asText(at(line, 'hint')),
      address === '' ? '' : `Address: ${address}`,
    ),
    severity: severity.toLowerCase(),
    asset_type: 'network',
    asset_value: hostPort(host, port),
    tags: ['testssl', 'tls', ...cves],
    fingerprint: address,
    raw_vuln_json: JSON.stringify(line),
  })
}
