import {
  CONFIDENCES,
  FINDING_LIMITS,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  SEVERITIES,
  type AssetContent,
  type Confidence,
  type FindingContent,
  type Severity,
} from '@scanfarm/contracts'
import { asList, asText, asTexts, pick, type Unknown } from './fields.ts'
import { isNuclei, nucleiRow } from './import/web/nuclei-row.ts'

type Limit = keyof typeof FINDING_LIMITS

/** Truncates without splitting a surrogate pair. */
const cut = (text: string, limit: number): string =>
  text.length > limit ? text.slice(0, limit).toWellFormed() : text

const clipped = (field: Limit, row: Unknown, ...names: string[]): string =>
  cut(asText(pick(row, ...names)), FINDING_LIMITS[field])

/** Some tools write a list as one text. */
const words = (value: unknown): string[] =>
  tagsOf([...new Set(asTexts(value).flatMap((text) => text.split(',')))].map((text) => text.trim()))

const tagsOf = (tags: readonly unknown[]): string[] =>
  asTexts(tags)
    .map((text) => cut(text, MAX_TAG_LENGTH))
    .slice(0, MAX_TAGS)

/** Severities of other tools; unknown ones become `info`. */
const SEVERITY_WORDS: Readonly<Record<string, Severity>> = {
  error: 'high',
  warning: 'medium',
  moderate: 'medium',
  note: 'low',
  none: 'info',
  informational: 'info',
}

export const severityOf = (word: string): Severity => {
  const lower = word.trim().toLowerCase()
  return SEVERITIES.find((one) => one === lower) ?? SEVERITY_WORDS[lower] ?? 'info'
}

/** The default for findings of tools that report no confidence is Firm. */
const confidenceOf = (word: string): Confidence =>
  CONFIDENCES.find((one) => one.toLowerCase() === word.trim().toLowerCase()) ?? 'Firm'

/** Text that is not JSON, or was truncated, becomes a JSON string. */
const jsonText = (value: unknown): string => {
  const text = asText(value)
  const limit = FINDING_LIMITS.raw_vuln_json
  if (text.length <= limit && (typeof value !== 'string' || isJson(text))) return text
  return JSON.stringify(cut(text, Math.floor(limit / 8)))
}

export const isJson = (text: string): boolean => {
  if (text === '') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Field names of other tools, in order of preference. */
const OTHER_NAMES: Readonly<
  Record<Exclude<keyof FindingContent, 'confidence' | 'occurrences'>, readonly string[]>
> = {
  vuln_info: ['template-id', 'template_id', 'rule_id', 'rule', 'id', 'name'],
  vuln_title: ['info.name', 'title', 'name'],
  vuln_desc: ['info.description', 'description', 'message'],
  vuln_poc: ['curl-command', 'poc', 'evidence'],
  severity: ['info.severity', 'level'],
  asset_type: [],
  asset_value: ['matched-at', 'matched_at', 'url', 'host', 'location', 'path', 'asset'],
  tags: ['info.tags'],
  detail_http_request: ['request'],
  detail_http_response: ['response'],
  raw_vuln_json: [],
  fingerprint: [],
}

const MAX_COUNT = 1_000_000_000
const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_COUNT ? value : 1

const isOurs = (row: Unknown): boolean => Object.hasOwn(row, 'vuln_info') || Object.hasOwn(row, 'vuln_title')

/**
 * Creates a finding from a record of nuclei, of Scanfarm, or of any tool that names severity, problem and location.
 * Undefined if the record does not name the problem.
 */
export function findingOf(given: Unknown): FindingContent | undefined {
  const row = isNuclei(given) ? nucleiRow(given) : given
  const ours = isOurs(row)
  const of = (field: keyof typeof OTHER_NAMES): unknown =>
    pick(row, field, ...(ours ? [] : OTHER_NAMES[field]))
  const text = (field: Exclude<Limit, 'workspace'>): string => cut(asText(of(field)), FINDING_LIMITS[field])
  const content: FindingContent = {
    vuln_info: text('vuln_info'),
    vuln_title: text('vuln_title'),
    vuln_desc: text('vuln_desc'),
    vuln_poc: text('vuln_poc'),
    severity: severityOf(asText(of('severity'))),
    confidence: confidenceOf(asText(pick(row, 'confidence'))),
    // In records of Scanfarm an empty type is part of the identity.
    asset_type: text('asset_type') || (ours && row['asset_type'] === '' ? '' : 'web'),
    asset_value: text('asset_value'),
    tags: ours && Array.isArray(row['tags']) ? tagsOf(row['tags']) : words(of('tags')),
    detail_http_request: text('detail_http_request'),
    detail_http_response: text('detail_http_response'),
    raw_vuln_json: jsonText(ours ? of('raw_vuln_json') : row),
    fingerprint: text('fingerprint'),
    occurrences: countOf(row['occurrences']),
  }
  return content.vuln_info === '' && content.vuln_title === '' ? undefined : content
}

const MAX_LIST = 1_000
const MAX_WORD = 1_024
const MAX_RAW = 64 * 1024

const list = (row: Unknown, ...names: string[]): string[] =>
  [...new Set(asList(pick(row, ...names)).map((item) => cut(asText(item).trim(), MAX_WORD)))]
    .filter((item) => item !== '')
    .slice(0, MAX_LIST)

const MAX_STATUS = 999
const statusOf = (value: unknown): number => {
  const status = Number(value)
  return Number.isInteger(status) && status > 0 && status <= MAX_STATUS ? status : 0
}

/** Creates an asset from a record with Scanfarm's field names; undefined if it has no value. */
export function assetOf(row: Unknown): AssetContent | undefined {
  const raw = asText(pick(row, 'raw_json_data'))
  const content: AssetContent = {
    asset_type: clipped('asset_type', row, 'asset_type') || 'other',
    asset_value: clipped('asset_value', row, 'asset_value', 'value', 'host', 'url', 'name').trim(),
    url: clipped('asset_value', row, 'url'),
    host_ip: cut(asText(pick(row, 'host_ip', 'ip')), MAX_WORD),
    scheme: cut(asText(pick(row, 'scheme')), MAX_WORD),
    status_code: statusOf(pick(row, 'status_code', 'status-code')),
    title: cut(asText(pick(row, 'title')), FINDING_LIMITS.vuln_title),
    content_type: cut(asText(pick(row, 'content_type', 'content-type')), MAX_WORD),
    technologies: list(row, 'technologies', 'tech'),
    open_ports: list(row, 'open_ports'),
    dns_records: list(row, 'dns_records'),
    remarks: list(row, 'remarks'),
    raw_json_data: raw.length > MAX_RAW ? JSON.stringify(cut(raw, MAX_RAW)) : raw,
  }
  return content.asset_value === '' ? undefined : content
}
