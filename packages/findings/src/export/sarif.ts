import type { Severity, Vulnerability } from '@scanfarm/contracts'

const LEVEL: Readonly<Record<Severity, 'error' | 'warning' | 'note' | 'none'>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'none',
}

/** Maximum number of described rules. Results of further rules refer to them without a description. */
const MAX_RULES = 100_000

const HEAD =
  '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"results":['

/** SARIF 2.1.0. The rules are written last, when all of them are known. */
export async function* sarifOf(pages: AsyncIterable<readonly Vulnerability[]>): AsyncGenerator<string> {
  const rules = new Map<string, object>()
  let separator = ''
  yield HEAD
  for await (const page of pages)
    for (const finding of page) {
      const id = finding.vuln_info || finding.vuln_title || 'unnamed'
      if (rules.size < MAX_RULES && !rules.has(id)) rules.set(id, ruleOf(id, finding))
      yield `${separator}\n${JSON.stringify(resultOf(id, finding))}`
      separator = ','
    }
  const driver = { name: 'Scanfarm', rules: [...rules.values()] }
  yield `\n],"tool":${JSON.stringify({ driver })}}]}\n`
}

const ruleOf = (id: string, { vuln_title }: Vulnerability): object => ({
  id,
  ...(vuln_title === '' ? {} : { shortDescription: { text: vuln_title } }),
})

const resultOf = (ruleId: string, finding: Vulnerability): object => ({
  ruleId,
  level: LEVEL[finding.severity],
  message: { text: finding.vuln_title || finding.vuln_desc || ruleId },
  ...(finding.asset_value === '' ? {} : { locations: [placeOf(finding)] }),
  ...(finding.finding_hash === ''
    ? {}
    : { partialFingerprints: { 'scanfarmIdentity/v1': finding.finding_hash } }),
  properties: {
    state: finding.state,
    firstSeen: finding.first_seen,
    lastSeen: finding.last_seen,
    workspace: finding.workspace,
    // Read by the SARIF import of Scanfarm.
    scanfarm: {
      vuln_info: finding.vuln_info,
      vuln_title: finding.vuln_title,
      vuln_desc: finding.vuln_desc,
      vuln_poc: finding.vuln_poc,
      severity: finding.severity,
      confidence: finding.confidence,
      asset_type: finding.asset_type,
      asset_value: finding.asset_value,
      tags: finding.tags,
      detail_http_request: finding.detail_http_request,
      detail_http_response: finding.detail_http_response,
      raw_vuln_json: finding.raw_vuln_json,
      fingerprint: finding.fingerprint,
      occurrences: finding.occurrences,
    },
  },
})

const placeOf = ({ asset_value, asset_type }: Vulnerability): object => {
  const [, file = '', line = ''] = /^(.*):([1-9]\d{0,8})$/s.exec(asset_value) ?? []
  if (asset_type === 'file' && line !== '')
    return { physicalLocation: { ...artifact(file), region: { startLine: Number(line) } } }
  if (asset_type === 'file' || /^[a-z][a-z0-9+.-]*:\/\//i.test(asset_value))
    return { physicalLocation: artifact(asset_value) }
  return { logicalLocations: [{ fullyQualifiedName: asset_value, kind: 'resource' }] }
}

/** Encodes names that are not valid URIs. */
const artifact = (name: string): object => {
  const uri = encodeURI(name.toWellFormed())
    .replaceAll(/%25([0-9a-f]{2})/gi, '%$1')
    .replaceAll(/[[\]^|]/g, encodeURIComponent)
  return { artifactLocation: { uri: /^[^/?#]*:(?!\/\/)/.test(uri) ? `./${uri}` : uri } }
}
