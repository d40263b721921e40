import { asText, at, isRecord } from '../fields.ts'
import { spelled } from './paths.ts'
import { unreadable, type Imported } from './read-body.ts'
import { jsonParts } from './read-json.ts'
import { failed, finding, hostPort, paragraphs, unusable } from './records.ts'

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
  const hosts = new Map<string, { isComplete: boolean }>()
  const addresses = new Map<string, Set<string>>()
  const found: Line[] = []
  let lines = 0
  let isReport = false
  for await (const part of jsonParts(body, '[]', 'scanResult.[]', 'scanTime', 'Invocation')) {
    if (part.kind === 'problem') {
      yield unusable(part.reason, part.line)
      continue
    }
    isReport ||= part.at !== '[]' || at(part.value, 'finding') !== undefined
    for (const line of part.at === '[]' ? flatLine(part.value) : prettyLines(part.at, part.value)) {
      lines += 1
      const place = hostPort(line.host, line.port)
      if (line.address !== '') addresses.set(place, (addresses.get(place) ?? new Set()).add(line.address))
      const host = hosts.get(line.host) ?? { isComplete: true }
      if (line.host !== '') hosts.set(line.host, host)
      if (isIncomplete(line)) host.isComplete = false
      if (isProblem(line))
        yield failed([line.host, line.id, line.text].filter((part) => part !== '').join(': '))
      else if (FINDINGS.has(line.severity)) found.push(line)
    }
  }
  if (!isReport) throw unreadable('it is not JSON of testssl')
  // A scan that tested nothing, or was interrupted, is not one without findings.
  if (lines === 0) yield failed('testssl tested no server')
  for (const [host, { isComplete }] of hosts) if (isComplete) yield { kind: 'reached', host }
  for (const line of found)
    yield record(line, (addresses.get(hostPort(line.host, line.port))?.size ?? 0) > 1 ? line.address : '')
}

function* flatLine(line: unknown): Generator<Line> {
  if (!isRecord(line) || !Object.hasOwn(line, 'finding')) return
  // `name/address`
  const [host = '', address = ''] = asText(line['ip']).split('/')
  yield lineOf(line, spelled(host), address, asText(line['port']))
}

function* prettyLines(place: string, value: unknown): Generator<Line> {
  if (place === 'scanTime') {
    const time = asText(value)
    if (!/^\d+$/.test(time)) yield lineOf({ id: 'scanTime', severity: 'WARN', finding: time }, '', '', '')
  } else if (place === 'scanResult.[]' && isRecord(value)) {
    const address = asText(value['ip'])
    const host = spelled(asText(value['targetHost'])) || address
    const lines = Object.hasOwn(value, 'id') ? [value] : Object.values(value)
    for (const line of lines.flat())
      if (isRecord(line) && Object.hasOwn(line, 'severity'))
        yield lineOf(line, host, address, asText(value['port']))
  }
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

/** Warnings say that a check was not possible, except those on the local OpenSSL. */
const isIncomplete = (line: Line): boolean =>
  isProblem(line) ||
  (line.severity === 'WARN' && !/^(engine_problem|old_fart|too_old_openssl)$/.test(line.id))

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
