import { valueOr } from '@scanfarm/contracts'
import type { Severity, Vulnerability } from '@scanfarm/contracts'
import packageJson from '../../package.json' with { type: 'json' }
import { factsOf, packageOf, scoreOf, type Facts } from './facts.ts'

const LEVEL: Readonly<Record<Severity, 'error' | 'warning' | 'note' | 'none'>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'none',
}

/** Code-scanning services accept no more results in a run, and no more tags of a rule. */
const MAX_RESULTS = 25_000
const MAX_TAGS = 20

const MAX_TITLE = 255
const MAX_HELP = 2_048

const clipped = (text: string, limit: number): string => text.slice(0, limit).toWellFormed()

const ABOUT = {
  name: 'Scanfarm',
  version: packageJson.version,
  semanticVersion: packageJson.version,
  informationUri: 'https://github.com/scanfarm/scanfarm',
}

interface Rule {
  readonly text: object
  score: number
  readonly tags: Set<string>
}

/** SARIF 2.1.0, in several runs if there are many results. The rules of a run are written last, when all are known. */
export async function* sarifOf(pages: AsyncIterable<readonly Vulnerability[]>): AsyncGenerator<string> {
  let rules = new Map<string, Rule>()
  let run = 1
  let results = 0
  yield `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"results":[`
  for await (const page of pages)
    for (const finding of page) {
      if (results === MAX_RESULTS) {
        yield `${endOf(run, rules)},\n{"results":[`
        rules = new Map()
        run += 1
        results = 0
      }
      const facts = factsOf(finding)
      const id = finding.vuln_info || finding.vuln_title || 'unnamed'
      addRule(rules, id, finding, facts)
      yield `${results === 0 ? '' : ','}\n${JSON.stringify(resultOf(id, finding, facts))}`
      results += 1
    }
  yield `${endOf(run, rules)}]}\n`
}

const endOf = (run: number, rules: ReadonlyMap<string, Rule>): string => {
  const list = [...rules.values()].map(({ text, score, tags }) => ({
    ...text,
    properties: {
      tags: [...tags].slice(0, MAX_TAGS),
      ...(score > 0 ? { 'security-severity': score.toFixed(1) } : {}),
    },
  }))
  // Services refuse several runs of one tool in a file unless their ids differ.
  const details = { id: `scanfarm/${run}/` }
  return `\n],"tool":${JSON.stringify({ driver: { ...ABOUT, rules: list } })},"automationDetails":${JSON.stringify(details)}}`
}

/** The rule has the texts of its first finding, the worst score, and the tags of all. */
const addRule = (rules: Map<string, Rule>, id: string, finding: Vulnerability, facts: Facts): void => {
  const rule = rules.get(id) ?? { text: ruleOf(id, finding, facts), score: 0, tags: new Set(['security']) }
  rule.score = Math.max(rule.score, scoreOf(finding.severity, facts))
  for (const cwe of facts.cwes) rule.tags.add(`external/cwe/cwe-${String(cwe).padStart(3, '0')}`)
  for (const tag of finding.tags) if (rule.tags.size < MAX_TAGS) rule.tags.add(tag)
  rules.set(id, rule)
}

const ruleOf = (id: string, { vuln_title, vuln_desc }: Vulnerability, facts: Facts): object => {
  const { remediation, references } = facts
  const title = vuln_title || id
  const help = [
    vuln_desc || title,
    remediation === '' ? '' : `Remediation: ${remediation}`,
    references.length === 0 ? '' : `References:\n${references.map((url) => `- ${url}`).join('\n')}`,
  ].filter((text) => text !== '')
  const [helpUri] = references
  return {
    id,
    shortDescription: { text: clipped(title, MAX_TITLE) },
    fullDescription: { text: clipped(vuln_desc || title, MAX_HELP) },
    help: { text: clipped(help.join('\n\n'), MAX_HELP), markdown: clipped(help.join('\n\n'), MAX_HELP) },
    ...(helpUri === undefined ? {} : { helpUri: encodeURI(decodedUri(helpUri)) }),
  }
}

const decodedUri = (uri: string): string => valueOr(() => decodeURI(uri), uri)

const resultOf = (ruleId: string, finding: Vulnerability, facts: Facts): object => ({
  ruleId,
  level: LEVEL[finding.severity],
  message: { text: finding.vuln_title || finding.vuln_desc || ruleId },
  locations: [locationOf(finding)],
  ...(finding.finding_hash === ''
    ? {}
    : {
        partialFingerprints: {
          'scanfarmIdentity/v1': finding.finding_hash,
          primaryLocationLineHash: `${finding.finding_hash.slice(0, 16)}:1`,
        },
      }),
  ...(finding.occurrences > 1 ? { occurrenceCount: finding.occurrences } : {}),
  properties: {
    ...(finding.severity === 'info'
      ? {}
      : { 'security-severity': scoreOf(finding.severity, facts).toFixed(1) }),
    cves: facts.cves,
    cwes: facts.cwes.map((cwe) => `CWE-${cwe}`),
    ...(facts.cvssScore === undefined ? {} : { cvssScore: facts.cvssScore }),
    ...(facts.cvss === undefined ? {} : { cvssVector: facts.cvss.vector }),
    references: facts.references,
    ...(facts.remediation === '' ? {} : { remediation: facts.remediation }),
    state: finding.state,
    seen: finding.seen,
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

/**
 * Services refuse a file if a result is not at a line of a file with a relative path. So hosts and URLs are below
 * `targets/`, with the place as it is as the logical one.
 */
const locationOf = (finding: Vulnerability): object => {
  const { asset_value, asset_type } = finding
  const [, file = asset_value, line = '1'] = /^(.*):([1-9]\d{0,8})$/s.exec(asset_value) ?? []
  if (asset_type === 'file' && asset_value !== '') return physical(file, Number(line))
  const place = asset_value.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '') || 'unknown'
  const named = asset_type === 'package' ? packageOf(finding).file : ''
  return {
    ...physical(named || `targets/${place}`, 1),
    ...(asset_value === ''
      ? {}
      : { logicalLocations: [{ fullyQualifiedName: asset_value, kind: 'resource' }] }),
  }
}

/** The path relative and encoded; an absolute one loses its first `/`. */
const physical = (path: string, startLine: number): object => {
  const uri = path
    .toWellFormed()
    .replaceAll('\\', '/')
    .replace(/^\/+/, '')
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll(/%(?:3A|40|2C|24|26|2B|3B|3D)/g, decodeURIComponent))
    .join('/')
  return {
    physicalLocation: {
      artifactLocation: { uri: /^[^/]*:/.test(uri) ? `./${uri}` : uri || 'unknown' },
      region: { startLine },
    },
  }
}
