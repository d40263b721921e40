import type { Severity } from '@scanfarm/contracts'
import type { Imported } from '../read-body.ts'
import { finding } from '../records.ts'

export interface TlsWeakness {
  readonly id: string
  readonly severity: Severity
  readonly title: string
  readonly cve?: string
}

/*
 * Severities are those that testssl.sh 3.0 gives to the same weakness. Exception: untrusted certificates are medium,
 * since clients refuse them.
 */

export const PROTOCOLS: Readonly<Record<string, TlsWeakness>> = {
  'ssl 2': { id: 'sslv2', severity: 'critical', title: 'SSLv2 is enabled', cve: 'CVE-2016-0800' },
  'ssl 3': { id: 'sslv3', severity: 'high', title: 'SSLv3 is enabled', cve: 'CVE-2014-3566' },
  'tls 1.0': { id: 'tls10', severity: 'low', title: 'TLS 1.0 is enabled' },
  'tls 1.1': { id: 'tls11', severity: 'low', title: 'TLS 1.1 is enabled' },
}

/** By the names of OpenSSL and of IANA; a cipher belongs to the first that matches. */
const CIPHERS: readonly (TlsWeakness & { readonly pattern: RegExp })[] = [
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

export const HEARTBLEED: TlsWeakness = {
  id: 'heartbleed',
  severity: 'critical',
  title: 'Memory can be read through the heartbeat extension (Heartbleed)',
  cve: 'CVE-2014-0160',
}
export const RENEGOTIATION: TlsWeakness = {
  id: 'insecure-renegotiation',
  severity: 'critical',
  title: 'Insecure renegotiation is supported',
  cve: 'CVE-2009-3555',
}
export const COMPRESSION: TlsWeakness = {
  id: 'compression',
  severity: 'high',
  title: 'TLS compression is enabled (CRIME)',
  cve: 'CVE-2012-4929',
}
export const EXPIRED: TlsWeakness = {
  id: 'cert-expired',
  severity: 'medium',
  title: 'The certificate has expired',
}
export const SELF_SIGNED: TlsWeakness = {
  id: 'cert-self-signed',
  severity: 'medium',
  title: 'The certificate is self-signed',
}

export const UNTRUSTED: TlsWeakness = {
  id: 'cert-untrusted',
  severity: 'medium',
  title: 'The certificate is not trusted',
}

/** The kind of weak cipher that a name belongs to, if any. */
export const cipherWeakness = (name: string): TlsWeakness | undefined =>
  CIPHERS.find(({ pattern }) => pattern.test(name))

/** The bits of a key of the type `EC` are its strength, which is half its length. */
export const keyWeakness = (type: string, bits: number): TlsWeakness | undefined => {
  const steps = type === 'EC' ? [55, 61, 81] : [512, 768, 1024]
  const severities = ['critical', 'high', 'medium'] as const
  const severity = bits > 0 ? severities[steps.findIndex((most) => bits <= most)] : undefined
  return (
    severity && {
      id: 'cert-weak-key',
      severity,
      title: `The certificate has a weak key: ${type} ${bits} bits`,
    }
  )
}

export const signatureWeakness = (algorithm: string): TlsWeakness | undefined => {
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

/** The finding of a weakness; `names` are the ciphers that show it, `server` one of several behind the place. */
export const tlsFinding = (
  tool: string,
  { id, severity, title, cve }: TlsWeakness,
  place: string,
  detail: unknown,
  names: readonly string[] = [],
  server = '',
): Imported =>
  finding({
    vuln_info: `${tool}-${id}`,
    vuln_title: title,
    vuln_desc: [title, ...names].join('\n'),
    severity,
    asset_type: 'network',
    asset_value: place,
    fingerprint: server,
    tags: [tool, 'tls', ...(cve === undefined ? [] : [cve])],
    raw_vuln_json: JSON.stringify(detail),
  })
