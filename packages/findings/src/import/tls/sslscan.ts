import { asList, asText, at } from '../../fields.ts'
import { spelled } from '../paths.ts'
import { unreadable, type Imported } from '../read-body.ts'
import { xmlParts } from '../read-xml.ts'
import { failed, failedServer, hostPort, unusable } from '../records.ts'
import {
  COMPRESSION,
  EXPIRED,
  HEARTBLEED,
  PROTOCOLS,
  RENEGOTIATION,
  SELF_SIGNED,
  cipherWeakness,
  keyWeakness,
  signatureWeakness,
  tlsFinding,
  type TlsWeakness,
} from './tls-weaknesses.ts'

/** With `--targets`, version 2.0 ends every report with this error, although it has read the file. */
const FALSE_ERROR = /^Targets file .* does not exist/

/** Errors that name their server: `… to host a (192.0.2.1) on port 443.`, `… hostname a.` */
const OF_SERVER = /\bhost (\S+) \(.*\) on port (\d+)|\bhostname (\S+?)\.?$/

const serverIn = (error: string): string => {
  const [, host = '', port = '', name = ''] = OF_SERVER.exec(error) ?? []
  return spelled(host === '' ? name : hostPort(host, port))
}

type Problem = readonly [place: string, reason: string]

/** Reads the weaknesses of TLS servers. A server that could not be tested keeps its records. */
export async function* sslscanFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let isReport = false
  const tested = new Set<string>()
  const problems: Problem[] = []
  let untold = 'sslscan tested no server'
  for await (const part of xmlParts(body, 'document', 'document.error', 'document.ssltest')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'document') isReport ||= asText(at(part.value, 'title')).startsWith('SSLScan')
    else if (part.at === 'document.error') {
      const error = asText(part.value)
      if (FALSE_ERROR.test(error)) untold = error
      else problems.push([serverIn(error), error])
    } else yield* hostRecords(part.value, tested, problems)
  }
  if (!isReport) throw unreadable('it is not XML of sslscan')
  for (const [place, reason] of problems) yield failedServer(place, reason, tested)
  if (tested.size + problems.length === 0) yield failed(untold)
}

function* hostRecords(test: unknown, tested: Set<string>, problems: Problem[]): Generator<Imported> {
  const host = spelled(asText(at(test, 'host')))
  const place = hostPort(host, asText(at(test, 'port')))
  const protocols = asList(at(test, 'protocol')).filter(isOn('enabled'))
  const errors = asList(at(test, 'error')).map(asText)
  // Without a protocol the port has not completed a TLS handshake, so that nothing was tested.
  if (protocols.length === 0) errors.push('the port negotiated no TLS, nothing was tested')
  if (host === '') {
    yield unusable('a server without a host')
    return
  }
  if (errors.length > 0) problems.push([place, errors.join('; ')])
  else {
    tested.add(place)
    yield { kind: 'reached', host }
  }
  // A server may have another certificate for each name.
  const name = spelled(asText(at(test, 'sniname')))
  for (const [weakness, detail] of [
    ...protocolWeaknesses(protocols),
    ...cipherWeaknesses(asList(at(test, 'cipher'))),
    ...connectionWeaknesses(test),
    ...asList(at(test, 'certificates', 'certificate')).flatMap(certificateWeaknesses),
  ])
    yield tlsFinding('sslscan', weakness, place, detail, namesOf(detail), name === host ? '' : name)
}

/** The ciphers of a detail. */
const namesOf = (detail: unknown): string[] =>
  asList(detail).flatMap((one) => {
    const name = asText(at(one, 'cipher'))
    return name === '' ? [] : [`${asText(at(one, 'sslversion'))} ${name}`]
  })

type Found = readonly [weakness: TlsWeakness, detail: unknown]

const isOn =
  (name: string) =>
  (element: unknown): boolean =>
    asText(at(element, name)) === '1'

const protocolWeaknesses = (enabled: readonly unknown[]): Found[] =>
  enabled.flatMap((protocol) => {
    const weakness = PROTOCOLS[`${asText(at(protocol, 'type'))} ${asText(at(protocol, 'version'))}`]
    return weakness === undefined ? [] : [[weakness, protocol] as const]
  })

const cipherWeaknesses = (ciphers: readonly unknown[]): Found[] => {
  const kindOf = (cipher: unknown) => cipherWeakness(asText(at(cipher, 'cipher')))
  return [...Map.groupBy(ciphers, kindOf)].flatMap(([weakness, weak]) =>
    weakness === undefined ? [] : [[weakness, weak] as const],
  )
}

const connectionWeaknesses = (test: unknown): Found[] => {
  const heartbleed = asList(at(test, 'heartbleed')).filter(isOn('vulnerable'))
  const renegotiation = at(test, 'renegotiation')
  const compression = at(test, 'compression')
  return [
    ...(heartbleed.length > 0 ? [[HEARTBLEED, heartbleed] as const] : []),
    ...(isOn('supported')(renegotiation) && !isOn('secure')(renegotiation)
      ? [[RENEGOTIATION, renegotiation] as const]
      : []),
    ...(isOn('supported')(compression) ? [[COMPRESSION, compression] as const] : []),
  ]
}

const certificateWeaknesses = (certificate: unknown): Found[] => {
  const is = (name: string) => asText(at(certificate, name)) === 'true'
  const weak = [
    keyWeakness(asText(at(certificate, 'pk', 'type')), Number(at(certificate, 'pk', 'bits'))),
    signatureWeakness(asText(at(certificate, 'signature-algorithm'))),
  ]
  return [
    ...(is('expired') ? [EXPIRED] : []),
    ...(is('self-signed') ? [SELF_SIGNED] : []),
    ...weak.filter((weakness) => weakness !== undefined),
  ].map((weakness) => [weakness, certificate] as const)
}
