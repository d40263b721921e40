import { asText, asTexts, isRecord, pick, type Unknown } from '../../fields.ts'
import { pathOf, spelled } from '../paths.ts'

/** Names of the template in version 3, 2.3 to 2.9, 2.2 and 1. */
const TEMPLATE = ['template-id', 'template_id', 'templateID', 'template']

export const isNuclei = (row: Unknown): boolean =>
  pick(row, ...TEMPLATE) !== undefined &&
  !Object.hasOwn(row, 'vuln_info') &&
  !Object.hasOwn(row, 'vuln_title')

/** Why a line is no finding: the template did not match, or could not be sent to the host. Undefined for other records. */
export const nucleiMiss = (row: Unknown): { readonly error: string; readonly host: string } | undefined => {
  if (!isNuclei(row)) return undefined
  const error = asText(pick(row, 'error'))
  if (error === '' && pick(row, 'matcher-status', 'matcher_status') !== false) return undefined
  return { error, host: spelled(asText(pick(row, 'host', 'ip'))) }
}

/** A line of nuclei with Scanfarm's field names. */
export const nucleiRow = (row: Unknown): Unknown => {
  const id = asText(pick(row, ...TEMPLATE))
  // Most lines have them in an object: paths are looked up for the others.
  const inner = row['info']
  const info = (name: string): unknown =>
    (isRecord(inner) ? pick(inner, name) : undefined) ?? pick(row, `info.${name}`, name)
  return {
    vuln_info: id,
    vuln_title: info('name') ?? id,
    vuln_desc: info('description') ?? '',
    vuln_poc: pick(row, 'curl-command', 'curl_command') ?? '',
    severity: info('severity') ?? '',
    asset_type: row['type'] === 'file' ? 'file' : 'web',
    asset_value: row['type'] === 'file' ? inFile(row) : spelled(placeOf(row)),
    tags: [
      ...asTexts(info('tags')).flatMap((text) => text.split(',').map((tag) => tag.trim())),
      ...asTexts(pick(row, 'info.classification.cve-id')).map((cve) => cve.toUpperCase()),
    ],
    detail_http_request: pick(row, 'request') ?? '',
    detail_http_response: pick(row, 'response') ?? '',
    // The matchers and extractors of a template, and the parameters that it tries, are different results.
    fingerprint: RESULT.map((name) => asText(row[name]))
      .filter((name) => name !== '')
      .join(' '),
    raw_vuln_json: row,
  }
}

const RESULT = [
  'matcher-name',
  'matcher_name',
  'extractor-name',
  'extractor_name',
  'fuzzing_method',
  'fuzzing_position',
  'fuzzing_parameter',
]

/** Templates of the type `file` name the lines that match. */
const inFile = (row: Unknown): string => {
  const [line] = asTexts(row['matched-line'])
  return [pathOf(placeOf(row)), ...(line === undefined ? [] : [line])].join(':')
}

const placeOf = (row: Unknown): string => {
  const named = asText(pick(row, 'matched-at', 'matched_at', 'matched', 'url', 'host'))
  if (named !== '') return named
  const [ip, port] = [asText(pick(row, 'ip')), asText(pick(row, 'port'))]
  return ip === '' || port === '' ? ip : `${ip.includes(':') ? `[${ip}]` : ip}:${port}`
}
