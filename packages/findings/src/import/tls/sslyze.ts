import { asList, asText, at, isRecord } from '../../fields.ts'
import { spelled } from '../paths.ts'
import { unreadable, type Imported } from '../read-body.ts'
import { jsonBesideLog } from '../json/json-report.ts'
import { failed, hostPort, unusable } from '../records.ts'
import {
  COMPRESSION,
  EXPIRED,
  HEARTBLEED,
  PROTOCOLS,
  RENEGOTIATION,
  SELF_SIGNED,
  UNTRUSTED,
  cipherWeakness,
  keyWeakness,
  signatureWeakness,
  tlsFinding,
  type TlsWeakness,
} from './tls-weaknesses.ts'

const CCS: TlsWeakness = {
  id: 'ccs-injection',
  severity: 'high',
  title: 'Connections can be decrypted and changed (CCS injection)',
  cve: 'CVE-2014-0224',
}
const ROBOT: TlsWeakness = {
  id: 'robot',
  severity: 'high',
  title: 'Connections can be decrypted through RSA padding (ROBOT)',
  cve: 'CVE-2017-13099',
}

/** Names of sslyze for the protocols. */
const VERSIONS: readonly (readonly [scan: string, protocol: string])[] = [
  ['ssl_2_0', 'ssl 2'],
  ['ssl_3_0', 'ssl 3'],
  ['tls_1_0', 'tls 1.0'],
  ['tls_1_1', 'tls 1.1'],
  ['tls_1_2', 'tls 1.2'],
  ['tls_1_3', 'tls 1.3'],
]

/** A certificate whose end is compared with the time of the scan, which the report names last. */
interface Certificate {
  readonly place: string
  readonly end: string
  readonly detail: unknown
}

/** Reads JSON of sslyze: the weaknesses that sslscan also has, and ROBOT and CCS injection. */
export async function* sslyzeFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const certificates: Certificate[] = []
  let isReport = false
  let started = ''
  // Versions before 5 list servers that did not answer apart.
  const failures = ['invalid_server_strings.[]', 'server_connectivity_errors.[]']
  const servers = ['server_scan_results.[]', ...failures]
  for await (const part of jsonBesideLog(body, ...servers, 'date_scans_started', 'sslyze_version')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else {
      isReport = true
      if (part.at === 'date_scans_started') started = asText(part.value)
      else if (failures.includes(part.at))
        yield untested(
          asText(at(part.value, 'error_message')) || 'the server cannot be resolved',
          spelled(asText(at(part.value, 'server_string'))),
        )
      else if (part.at === 'server_scan_results.[]') yield* serverRecords(part.value, certificates)
    }
  }
  if (!isReport) throw unreadable('it is not JSON of sslyze')
  const time = new Date(started === '' ? Date.now() : started)
  for (const { place, end, detail } of certificates)
    if (new Date(end) < time) yield tlsFinding('sslyze', EXPIRED, place, detail)
}

/** Only concerns the port; others of the host may have been tested. */
const untested = (reason: string, place: string): Imported =>
  failed(reason, place === '' ? {} : { host: place, check: '' })

function* serverRecords(server: unknown, certificates: Certificate[]): Generator<Imported> {
  // Until version 4 the place was in `server_info`.
  const location = at(server, 'server_location') ?? at(server, 'server_info', 'server_location')
  const host = spelled(asText(at(location, 'hostname')))
  const place = host === '' ? '' : hostPort(host, asText(at(location, 'port')))
  const scan = at(server, 'scan_result') ?? at(server, 'scan_commands_results')
  if (host === '' || !isRecord(scan)) {
    const trace = asText(at(server, 'connectivity_error_trace')).trim().split('\n').at(-1) ?? ''
    yield untested(trace || 'the server could not be tested', place)
    return
  }
  const broken = Object.entries(scan).filter(([, command]) => asText(at(command, 'status')) === 'ERROR')
  if (broken.length === 0) yield { kind: 'reached', host }
  else yield untested(`checks failed: ${broken.map(([name]) => name).join(', ')}`, place)
  yield* protocolRecords(scan, place)
  yield* checkRecords(scan, place)
  yield* certificateRecords(scan, place, certificates)
}

/** Results of a check; until version 4 without `result` between. */
const resultOf = (scan: unknown, check: string): unknown => at(scan, check, 'result') ?? at(scan, check)

function* protocolRecords(scan: unknown, place: string): Generator<Imported> {
  const weak = new Map<TlsWeakness, string[]>()
  for (const [name, protocol] of VERSIONS) {
    const result = resultOf(scan, `${name}_cipher_suites`)
    const accepted = asList(at(result, 'accepted_cipher_suites'))
    const weakness = PROTOCOLS[protocol]
    if (weakness !== undefined && accepted.length > 0)
      yield tlsFinding('sslyze', weakness, place, { accepted: accepted.map(suiteOf) })
    for (const suite of accepted.map(suiteOf)) {
      const found = cipherWeakness(suite)
      if (found !== undefined)
        weak.set(found, [...(weak.get(found) ?? []), `${protocol.toUpperCase()} ${suite}`])
    }
  }
  for (const [weakness, suites] of weak) yield tlsFinding('sslyze', weakness, place, { suites }, suites)
}

const suiteOf = (accepted: unknown): string => asText(at(accepted, 'cipher_suite', 'name'))

/** A check, and the values of its field that mean a weakness. */
const CHECKS: readonly (readonly [TlsWeakness, check: string, field: string, RegExp])[] = [
  [HEARTBLEED, 'heartbleed', 'is_vulnerable_to_heartbleed', /^true$/],
  [CCS, 'openssl_ccs_injection', 'is_vulnerable_to_ccs_injection', /^true$/],
  [COMPRESSION, 'tls_compression', 'supports_compression', /^true$/],
  [ROBOT, 'robot', 'robot_result', /^VULNERABLE/],
  [RENEGOTIATION, 'session_renegotiation', 'supports_secure_renegotiation', /^false$/],
]

function* checkRecords(scan: unknown, place: string): Generator<Imported> {
  for (const [weakness, check, field, weak] of CHECKS) {
    const result = resultOf(scan, check)
    if (weak.test(asText(at(result, field)))) yield tlsFinding('sslyze', weakness, place, result)
  }
}

function* certificateRecords(scan: unknown, place: string, certificates: Certificate[]): Generator<Imported> {
  const [deployment] = asList(at(resultOf(scan, 'certificate_info'), 'certificate_deployments'))
  const [leaf] = asList(at(deployment, 'received_certificate_chain'))
  if (!isRecord(leaf)) return
  const { as_pem: _, ...detail } = leaf
  const name = (field: string): string => asText(at(leaf, field, 'rfc4514_string'))
  const [kind, bits] = [
    asText(at(leaf, 'public_key', 'algorithm')),
    Number(at(leaf, 'public_key', 'key_size')),
  ]
  const isCurve = /^(EC|_?Elliptic)/.test(kind)
  const validations = asList(at(deployment, 'path_validation_results'))
  const isTrusted = validations.some((one) => at(one, 'was_validation_successful') === true)
  certificates.push({ place, end: asText(at(leaf, 'not_valid_after')), detail })
  const weak = [
    name('subject') !== '' && name('subject') === name('issuer')
      ? SELF_SIGNED
      : validations.length > 0 && !isTrusted
        ? UNTRUSTED
        : undefined,
    keyWeakness(isCurve ? 'EC' : kind.replace(/PublicKey$/, ''), isCurve ? bits / 2 : bits),
    signatureWeakness(asText(at(leaf, 'signature_hash_algorithm', 'name'))),
  ]
  for (const weakness of weak) if (weakness !== undefined) yield tlsFinding('sslyze', weakness, place, detail)
}
