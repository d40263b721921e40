import { isIPv6 } from 'node:net'
import type { Vulnerability } from '@scanfarm/contracts'
import { factsOf, packageOf } from './facts.ts'

const SEVERITY = { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low', info: 'Info' } as const

/** JSON for "Generic Findings Import" of DefectDojo. */
export async function* defectDojoOf(pages: AsyncIterable<readonly Vulnerability[]>): AsyncGenerator<string> {
  let separator = ''
  yield '{"findings":['
  for await (const page of pages)
    for (const finding of page) {
      yield `${separator}\n${JSON.stringify(dojoFinding(finding))}`
      separator = ','
    }
  yield '\n]}\n'
}

/** Maximum characters of a title. */
const MAX_TITLE = 511

const dojoFinding = (finding: Vulnerability) => {
  const { vuln_info, vuln_title } = finding
  const { cves, cwes, cvss, cvssScore, references, remediation } = factsOf(finding)
  // A score without a vector is taken for one of version 3.
  const isCvss3 = cvss?.version.startsWith('3.') ?? true
  const [cwe] = cwes
  const isMitigated = finding.state === 'gone' && !['false_positive', 'accepted'].includes(finding.verdict)
  return {
    title: (vuln_title || vuln_info || `Finding ${finding.id}`).slice(0, MAX_TITLE).toWellFormed(),
    description: describe(finding),
    severity: SEVERITY[finding.severity],
    date: finding.first_seen.slice(0, 10),
    active: finding.state === 'open',
    is_mitigated: isMitigated,
    false_p: finding.verdict === 'false_positive',
    risk_accepted: finding.verdict === 'accepted',
    ...(isMitigated && finding.gone_at !== null ? { mitigated: finding.gone_at } : {}),
    verified: finding.confidence === 'Certain' || finding.verdict === 'confirmed',
    vuln_id_from_tool: vuln_info,
    unique_id_from_tool: finding.finding_hash || String(finding.id),
    // With `cve` beside it the reader fails: it puts the list into a list.
    ...(cves.length === 0 ? {} : { vulnerability_ids: cves }),
    ...(cwe === undefined ? {} : { cwe }),
    ...(cvss !== undefined && isCvss3 ? { cvssv3: cvss.vector } : {}),
    ...(cvssScore !== undefined && isCvss3 ? { cvssv3_score: cvssScore } : {}),
    ...(references.length === 0 ? {} : { references: references.join('\n') }),
    ...(remediation === '' ? {} : { mitigation: remediation }),
    ...locationOf(finding),
    ...(finding.occurrences > 1 ? { nb_occurences: finding.occurrences } : {}),
    ...(finding.vuln_poc === '' ? {} : { steps_to_reproduce: finding.vuln_poc }),
    tags: finding.tags,
  }
}

const describe = ({ vuln_desc, asset_value, workspace, confidence }: Vulnerability): string =>
  [vuln_desc, `Asset: ${asset_value || 'unknown'}`, `Workspace: ${workspace}`, `Confidence: ${confidence}`]
    .filter((part) => part !== '')
    .join('\n\n')

/** Types of assets that are software. */
const COMPONENTS: ReadonlySet<string> = new Set(['package', 'component', 'library', 'dependency'])
/** A host or address with a port and protocol, which may be missing. */
const HOST = /^(\[[0-9a-f:.%]+\]|[\p{L}\p{N}._-]+)(:\d{1,5})?(?:\/(tcp|udp))?$/iu

const locationOf = (finding: Vulnerability): object => {
  const { asset_value, asset_type } = finding
  if (asset_value === '') return {}
  if (asset_type === 'file') {
    const [, file = asset_value, line] = /^(.*):([1-9]\d{0,8})$/s.exec(asset_value) ?? []
    return { file_path: file, ...(line === undefined ? {} : { line: Number(line) }), static_finding: true }
  }
  if (COMPONENTS.has(asset_type)) return componentOf(finding)
  const endpoint = endpointOf(asset_value)
  return endpoint === undefined ? {} : { endpoints: [endpoint], dynamic_finding: true }
}

const componentOf = (finding: Vulnerability): object => {
  const { file, name, version } = packageOf(finding)
  return {
    component_name: name,
    ...(version === undefined ? {} : { component_version: version }),
    ...(file === '' ? {} : { file_path: file }),
  }
}

/** A URL, or a host with its port; the reader puts `//` before what has no scheme. */
const endpointOf = (place: string): string | undefined => {
  // The reader takes no zone of an address: `fe80::1%eth0`.
  const value = place.replace(/^(\[?[0-9a-f:]+)%[^\]]+/i, '$1')
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return URL.canParse(value) ? value : undefined
  if (isIPv6(value)) return `[${value}]`
  const [, host, port = '', protocol] = HOST.exec(value) ?? []
  if (host === undefined) return undefined
  return protocol === 'udp' ? `udp://${host}${port}` : `${host}${port}`
}
