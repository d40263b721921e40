import type { Vulnerability } from '@scanfarm/contracts'

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

const isCve = (text: string): boolean => /^CVE-\d{4}-\d{4,7}$/i.test(text)
const isWeb = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const MAX_TITLE = 511

const dojoFinding = (finding: Vulnerability) => {
  const { vuln_info, vuln_title, asset_value, asset_type } = finding
  return {
    title: (vuln_title || vuln_info || `Finding ${finding.id}`).slice(0, MAX_TITLE).toWellFormed(),
    description: describe(finding),
    severity: SEVERITY[finding.severity],
    date: finding.first_seen.slice(0, 10),
    active: finding.state === 'open',
    is_mitigated: finding.state === 'gone',
    ...(finding.gone_at === null ? {} : { mitigated: finding.gone_at }),
    verified: finding.confidence === 'Certain',
    vuln_id_from_tool: vuln_info,
    unique_id_from_tool: finding.finding_hash || String(finding.id),
    ...(isCve(vuln_info) ? { cve: vuln_info.toUpperCase() } : {}),
    ...(isWeb(asset_value) ? { endpoints: [asset_value] } : {}),
    ...(asset_type === 'file' ? { file_path: asset_value } : { component_name: asset_value }),
    ...(finding.vuln_poc === '' ? {} : { steps_to_reproduce: finding.vuln_poc }),
    tags: finding.tags,
  }
}

const describe = ({ vuln_desc, asset_value, workspace, confidence }: Vulnerability): string =>
  [vuln_desc, `Asset: ${asset_value || 'unknown'}`, `Workspace: ${workspace}`, `Confidence: ${confidence}`]
    .filter((part) => part !== '')
    .join('\n\n')
