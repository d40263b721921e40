import type { Severity } from '@scanfarm/contracts'
import { asList, asText, at } from '../fields.ts'
import { unreadable, type Imported } from './read-body.ts'
import { xmlParts } from './read-xml.ts'
import { ERROR, finding, hostPort } from './records.ts'

interface Weakness {
  readonly id: string
  readonly severity: Severity
  readonly title: string
  readonly cve?: string
}

/*
 * Severities are those that testssl.sh 3.0 gives to the same weakness. Exception: untrusted certificates are medium,
 * since clients refuse them.
 */

const PROTOCOLS: Readonly<Record<string, Weakness>> = {
  'ssl 2': { id: 'sslv2', severity: 'critical', title: 'SSLv2 is enabled', cve: 'CVE-2016-0800' },
  'ssl 3': { id: 'sslv3', severity: 'high', title: 'SSLv3 is enabled', cve: 'CVE-2014-3566' },
  'tls 1.0': { id: 'tls10', severity: 'low', title: 'TLS 1.0 is enabled' },
  'tls 1.1': { id: 'tls11', severity: 'low', title: 'TLS 1.1 is enabled' },
}

/** By the names of OpenSSL and of IANA; a cipher belongs to the first that matches. */
const CIPHERS: readonly (Weakness & { readonly pattern: RegExp })[] = [
  { id: 'cipher-null', severity: 'critical', title: 'Ciphers without encryption', pattern: /NULL/ },
  {
    id: 'cipher-anonymous',
    severity: 'critical',
    title: 'Ciphers without authentication',
    pattern: /^(ADH|AECDH)-|_anon_/i,
  },
  { id: 'cipher-export', severity: 'critical', title: 'Export ciphers', pattern: /^EXP|EXPORT/ },
  { id: 'cipher-rc4', severity: 'high', title: 'RC4 ciphers', cve: 'CVE-2013-2566', pattern: /RC4/ },
  {
    id: 'cipher-3des',
    severity: 'medium',
    title: 'Triple DES ciphers',
    cve: 'CVE-2016-2183',
    pattern: /DES-CBC3|3DES/,
  },
  { id: 'cipher-des', severity: 'high', title: 'DES or RC2 ciphers', pattern: /(^|[-_])(DES|RC2)([-_]|$)/ },
]

const HEARTBLEED: Weakness = {
  id: 'heartbleed',
  severity: 'critical',
  title: 'Memory can be read through the heartbeat extension (Heartbleed)',
  cve: 'CVE-2014-0160',
}
const RENEGOTIATION: Weakness = {
  id: 'insecure-renegotiation',
  severity: 'critical',
  title: 'Insecure renegotiation is supported',
  cve: 'CVE-2009-3555',
}
const COMPRESSION: Weakness = {
  id: 'compression',
  severity: 'high',
  title: 'TLS compression is enabled (CRIME)',
  cve: 'CVE-2012-4929',
}
const EXPIRED: Weakness = { id: 'cert-expired', severity: 'medium', title: 'The certificate has expired' }
const SELF_SIGNED: Weakness = {
  id: 'cert-self-signed',
  severity: 'medium',
  title: 'The certificate is self-signed',
}

/** Reads the weaknesses of TLS servers. An error of sslscan is an error of the import, also if other hosts were scanned. */
export async function* sslscanFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let isReport = false
  let isEmpty = true
  for await (const part of xmlParts(body, 'document', 'document.error', 'document.ssltest')) {
    if (part.kind === 'problem') yield ERROR
    else if (part.at === 'document') isReport ||= asText(at(part.value, 'title')).startsWith('SSLScan')
    else if (isReport) {
      isEmpty = false
      if (part.at === 'document.error') yield ERROR
      else {
        yield* asList(at(part.value, 'error')).map(() => ERROR)
        yield* hostRecords(part.value)
      }
    }
  }
  if (!isReport) throw unreadable('it is not XML of sslscan (--xml)')
  if (isEmpty) yield ERROR
}

function* hostRecords(test: unknown): Generator<Imported> {
  const host = asText(at(test, 'host'))
  const protocols = asList(at(test, 'protocol')).filter(isOn('enabled'))
  // Without a protocol the port has not completed a TLS handshake, so that nothing was tested.
  if (host === '' || protocols.length === 0) {
    yield ERROR
    return
  }
  if (at(test, 'error') === undefined) yield { kind: 'reached', host }
  for (const [weakness, detail] of [
    ...protocolWeaknesses(protocols),
    ...cipherWeaknesses(asList(at(test, 'cipher'))),
    ...connectionWeaknesses(test),
    ...asList(at(test, 'certificates', 'certificate')).flatMap(certificateWeaknesses),
  ])
    yield record(weakness, detail, hostPort(host, asText(at(test, 'port'))))
}

type Found = readonly [weakness: Weakness, detail: unknown]

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
  const kindOf = (cipher: unknown) =>
    CIPHERS.find(({ pattern }) => pattern.test(asText(at(cipher, 'cipher'))))
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
    keyWeakness(at(certificate, 'pk')),
    signatureWeakness(asText(at(certificate, 'signature-algorithm'))),
  ]
  return [
    ...(is('expired') ? [EXPIRED] : []),
    ...(is('self-signed') ? [SELF_SIGNED] : []),
    ...weak.filter((weakness) => weakness !== undefined),
  ].map((weakness) => [weakness, certificate] as const)
}

const keyWeakness = (key: unknown): Weakness | undefined => {
  const bits = Number(at(key, 'bits'))
  const type = asText(at(key, 'type'))
  const steps: readonly (readonly [Severity, number])[] =
    // sslscan prints the strength of these keys, which is half their length.
    type === 'EC'
      ? [
          ['critical', 55],
          ['high', 61],
          ['medium', 81],
        ]
      : [
          ['critical', 512],
          ['high', 768],
          ['medium', 1024],
        ]
  const severity = bits > 0 ? steps.find(([, most]) => bits <= most)?.[0] : undefined
  return (
    severity && {
      id: 'cert-weak-key',
      severity,
      title: `The certificate has a weak key: ${type} ${bits} bits`,
    }
  )
}

const signatureWeakness = (algorithm: string): Weakness | undefined => {
  const severity = /md[245]/i.test(algorithm)
    ? 'critical'
    : /sha-?1(?!\d)/i.test(algorithm)
      ? 'medium'
      : undefined
  return (
    severity && {
      id: 'cert-weak-signature',
      severity,
      title: `The certificate has a weak signature: ${algorithm}`,
    }
  )
}

const record = ({ id, severity, title, cve }: Weakness, detail: unknown, place: string): Imported => {
  const names = asList(detail).flatMap((one) => {
    const name = asText(at(one, 'cipher'))
    return name === '' ? [] : [`${asText(at(one, 'sslversion'))} ${name}`]
  })
  return finding({
    vuln_info: `sslscan-${id}`,
    vuln_title: title,
    vuln_desc: [title, ...names].join('\n'),
    severity,
    asset_type: 'network',
    asset_value: place,
    tags: ['sslscan', 'tls', ...(cve === undefined ? [] : [cve])],
    raw_vuln_json: JSON.stringify(detail),
  })
}
