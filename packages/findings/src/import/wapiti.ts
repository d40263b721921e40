import type { Severity } from '@scanfarm/contracts'
import { asList, asText, at, isRecord } from '../fields.ts'
import { textOf, unreadable, type Imported } from './read-body.ts'
import { parseJson } from './read-json.ts'
import { ERROR, finding } from './records.ts'

/** The levels of wapiti, from 0. */
const LEVELS: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical']

/** Reads vulnerabilities, anomalies and additional information as findings, one for each category, place and parameter, header or cookie. */
export async function* wapitiFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const report = parseJson(await textOf(body))
  const target = asText(at(report, 'infos', 'target'))
  if (!isRecord(at(report, 'vulnerabilities')) || !URL.canParse(target))
    throw unreadable('it is not JSON of wapiti (-f json)')
  for (const part of ['vulnerabilities', 'anomalies', 'additionals'])
    for (const [category, found] of Object.entries(at(report, part) ?? {}))
      for (const one of asList(found)) yield record(one, category, part, report, target)
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** The header or cookie that a text on a whole page names. */
const SUBJECT = /^(\S+) is not set$|cookie ?: ?(\S+)/

const record = (one: unknown, category: string, part: string, report: unknown, target: string): Imported => {
  const path = asText(at(one, 'path'))
  if (!URL.canParse(path, target)) return ERROR
  const { origin, pathname } = new URL(path, target)
  const info = asText(at(one, 'info'))
  const subject = asText(at(one, 'parameter')) || (SUBJECT.exec(info)?.slice(1).find(Boolean) ?? '')
  const kind = at(report, 'classifications', category)
  return finding({
    vuln_info: ['wapiti', slug(category), subject].filter((part) => part !== '').join('-'),
    vuln_title: subject === '' ? category : `${category} (${subject})`,
    vuln_desc: [info, asText(at(kind, 'desc')), asText(at(kind, 'sol'))]
      .filter((text) => text !== '')
      .join('\n\n'),
    vuln_poc: asText(at(one, 'curl_command')),
    severity: part === 'additionals' ? 'info' : (LEVELS[Number(at(one, 'level'))] ?? 'info'),
    asset_type: 'web',
    asset_value: `${origin}${pathname}`,
    tags: ['wapiti', ...(asText(at(one, 'module')) ? [asText(at(one, 'module'))] : [])],
    detail_http_request: asText(at(one, 'http_request')),
    raw_vuln_json: JSON.stringify(one),
  })
}
