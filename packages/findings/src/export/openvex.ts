import { AppError, type Vulnerability } from '@scanfarm/contracts'
import packageJson from '../../package.json' with { type: 'json' }
import { asText, at } from '../fields.ts'
import { factsOf, recordOf } from './facts.ts'

/** Names of known vulnerabilities, besides CVEs. */
const ADVISORY = /^(GHSA|PYSEC|RUSTSEC|GO|OSV|MAL|DSA|DLA|USN|RHSA|ALAS|ELSA|SUSE|openSUSE)-\S+$/

/**
 * An OpenVEX document (version 0.2.0 of the format) of what people decided about known vulnerabilities: one statement
 * for each CVE, or advisory without a CVE, of a finding. Findings without such a name are left out; without any
 * statement the document would not be valid, and an error is thrown before the first text. Filters of scanners compare
 * packages by their purl, so the product is the purl where one is known, else the place.
 */
export async function* openVexOf(pages: AsyncIterable<readonly Vulnerability[]>): AsyncGenerator<string> {
  const about = {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:uuid:${crypto.randomUUID()}`,
    author: 'Scanfarm',
    // Optional, but lib4vex 0.2.3 refuses a document without it.
    role: 'Scan system',
    timestamp: new Date().toISOString(),
    version: 1,
    tooling: `Scanfarm ${packageJson.version}`,
  }
  let before = `${JSON.stringify(about).slice(0, -1)},"statements":[`
  const start = before
  for await (const page of pages)
    for (const finding of page)
      for (const statement of statementsOf(finding)) {
        yield `${before}\n${JSON.stringify(statement)}`
        before = ','
      }
  if (before === start)
    throw new AppError('bad_request', 'no finding that matches names a CVE or an advisory', {
      details: [{ path: '/format', message: 'openvex needs one: choose other filters, or another format' }],
    })
  yield '\n]}\n'
}

const statementsOf = (finding: Vulnerability): object[] => {
  const { cves, remediation } = factsOf(finding)
  const { vuln_info } = finding
  const advisory = ADVISORY.test(vuln_info) ? vuln_info : undefined
  const names = cves.length === 0 ? [advisory].flatMap((name) => name ?? []) : cves
  return names.map((name) => ({
    // No two statements may be equal, and several findings of a place may have one CVE.
    '@id': `urn:scanfarm:finding:${finding.id}:${encodeURIComponent(name)}`,
    vulnerability: { name, ...(advisory === undefined || advisory === name ? {} : { aliases: [advisory] }) },
    products: [{ '@id': productOf(finding) }],
    timestamp: finding.decided_at ?? finding.last_seen,
    ...judgement(finding, remediation),
  }))
}

/** OpenVEX wants a text with `affected`, and a text or one of five reasons with `not_affected`. */
const judgement = (
  { verdict, reason, until, seen, severity }: Vulnerability,
  remediation: string,
): object => {
  if (verdict === 'false_positive')
    return { status: 'not_affected', impact_statement: reason || 'A person decided that it does not apply.' }
  if (verdict === 'fixed_claimed' || seen === 'gone') return { status: 'fixed' }
  if (verdict === 'accepted')
    return {
      status: 'affected',
      action_statement: [until === null ? 'Accepted.' : `Accepted until ${until}.`, reason].join(' ').trim(),
    }
  if (verdict === 'confirmed')
    return { status: 'affected', action_statement: remediation || reason || `To be fixed: ${severity}.` }
  return { status: 'under_investigation' }
}

const productOf = ({ raw_vuln_json, asset_value }: Vulnerability): string => {
  const raw = recordOf(raw_vuln_json)
  const purls = [at(raw, 'artifact', 'purl'), at(raw, 'PkgIdentifier', 'PURL'), at(raw, 'purl')].map(asText)
  const purl = purls.find((text) => text.startsWith('pkg:'))
  if (purl !== undefined) return purl
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(asset_value) && URL.canParse(asset_value))
    return new URL(asset_value).href
  return `urn:scanfarm:place:${encodeURIComponent(asset_value.toWellFormed())}`
}
