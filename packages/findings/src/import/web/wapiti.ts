import type { Severity } from '@scanfarm/contracts'
import { asText, asTexts, at } from '../../fields.ts'
import { unreadable, type Imported } from '../read-body.ts'
import { jsonBesideLog } from '../json/json-report.ts'
import { failed, finding, hostPort, paragraphs, unusable } from '../records.ts'

/** The levels of wapiti, from 0. */
const LEVELS: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical']

/** A result that waits for the target, which the report names at its end. */
interface Waiting {
  readonly one: unknown
  readonly category: string
  readonly part: string
  readonly line: number
}

const PARTS = ['vulnerabilities', 'anomalies', 'additionals'].map((part) => `${part}.*.[]`)

/** Reads vulnerabilities, anomalies and additional information as findings, one for each category, place and parameter, header or cookie. */
export async function* wapitiFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const categories = new Map<string, unknown>()
  const waiting: Waiting[] = []
  let target = ''
  const settled = (): Imported[] =>
    waiting.splice(0).map((result) => record(result, categories.get(result.category), target))
  let isReport = false
  for await (const part of jsonBesideLog(body, 'infos', 'classifications.*', ...PARTS)) {
    isReport ||= part.kind === 'value' && part.at !== 'infos'
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'infos') {
      target = asText(at(part.value, 'target'))
      // Until 3.1.2 the number has the name of what is a list in later versions.
      const pages = at(part.value, 'crawled_pages_nbr') ?? at(part.value, 'crawled_pages')
      if (URL.canParse(target)) yield* answerOf(new URL(target), pages)
      yield* settled()
    } else if (part.at === 'classifications.*') categories.set(part.path[1] ?? '', part.value)
    else {
      const [name = '', category = ''] = part.path
      waiting.push({ one: part.value, category, part: name, line: part.line })
    }
  }
  if (!isReport && !URL.canParse(target)) throw unreadable('it is not JSON of wapiti')
  yield* settled()
}

/** Versions from 3.1 on say how many pages they have seen. Other ports of the host may have been tested. */
function* answerOf({ hostname, port, protocol, href }: URL, pages: unknown): Generator<Imported> {
  if (Number(pages) > 0) yield { kind: 'reached', host: href }
  else if (Number(pages ?? 1) === 0)
    yield failed('wapiti opened no page', {
      host: hostPort(hostname, port || (protocol === 'https:' ? '443' : '80')),
      check: '',
    })
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/**
 * Versions rename categories, but the ids of the OWASP guide for tests stay. These are the names of version 3.0 for the
 * ids; later names of the same id become one of them: the one whose first word the result contains, or the last one.
 */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  'WSTG-CONF-04': ['potentially-dangerous-file', 'backup-file'],
  'WSTG-INPV-05': ['blind-sql-injection', 'sql-injection'],
  'WSTG-INPV-15': ['crlf-injection'],
  'WSTG-INPV-12': ['command-execution'],
  'WSTG-CONF-12': ['content-security-policy-configuration'],
  'WSTG-SESS-05': ['cross-site-request-forgery'],
  'WSTG-INPV-01': ['cross-site-scripting'],
  'WSTG-INPV-02': ['cross-site-scripting'],
  'WSTG-CONF-06': ['http-methods', 'htaccess-bypass'],
  'WSTG-CONF-07': ['http-secure-headers'],
  'OSHP-X-Frame-Options': ['http-secure-headers'],
  'OSHP-X-Content-Type-Options': ['http-secure-headers'],
  'OSHP-X-XSS-Protection': ['http-secure-headers'],
  'WSTG-SESS-02': ['secure-flag-cookie', 'httponly-flag-cookie'],
  'WSTG-ERRH-01': ['resource-consumption', 'internal-server-error'],
  'WSTG-CLNT-04': ['open-redirect'],
  'WSTG-ATHZ-01': ['path-traversal'],
  'WSTG-INPV-19': ['server-side-request-forgery'],
  'WSTG-ATHN-07': ['weak-credentials'],
  'WSTG-INPV-07': ['xml-external-entity'],
  'WSTG-INFO-02': ['fingerprint-web-server', 'fingerprint-web-technology'],
  'WSTG-INFO-03': ['review-webserver-metafiles-for-information-leakage'],
  'WSTG-INFO-08': ['fingerprint-web-application-framework'],
  'WSTG-INPV-06': ['ldap-injection'],
  'WSTG-INPV-11': ['log4shell', 'spring4shell'],
  'WSTG-CLNT-03': ['stored-html-injection', 'html-injection'],
  'WSTG-CONF-10': ['subdomain-takeover'],
  'WSTG-CRYP-01': ['tls-ssl-misconfigurations'],
  'WSTG-CRYP-03': ['unencrypted-channels'],
  'WSTG-BUSL-08': ['unrestricted-file-upload'],
}

const checkOf = (category: string, ids: readonly string[], info: string): string => {
  const name = slug(category)
  const [id = ''] = ids
  const names = Object.hasOwn(CHECKS, id) ? (CHECKS[id] ?? []) : []
  if (names.length === 0) return id === '' ? name : id.toLowerCase()
  if (names.includes(name)) return name
  const text = info.toLowerCase()
  return names.find((known) => text.includes(known.split('-')[0] ?? '')) ?? names.at(-1) ?? name
}

/** The header or cookie that a text on a whole page names. */
const SUBJECT = /^(\S+) is not set$|cookie ?: ?(\S+)/

/** The URL that was requested, which names the server also where a report was cut off. */
const URL_OF_CURL = /^curl "(https?:\/\/[^"]+)"/

const record = ({ one, category, part, line }: Waiting, kind: unknown, target: string): Imported => {
  const path = asText(at(one, 'path'))
  const base = URL.canParse(target) ? target : (URL_OF_CURL.exec(asText(at(one, 'curl_command')))?.[1] ?? '')
  if (!URL.canParse(path, base)) return unusable('the result names no page', line)
  const { origin, pathname } = new URL(path, base)
  const info = asText(at(one, 'info'))
  const subject = asText(at(one, 'parameter')) || (SUBJECT.exec(info)?.slice(1).find(Boolean) ?? '')
  const ids = asTexts(at(one, 'wstg') ?? at(kind, 'wstg'))
  const check = checkOf(category, ids, info)
  const method = asText(at(one, 'method'))
  return finding({
    vuln_info: ['wapiti', check, subject].filter((part) => part !== '').join('-'),
    vuln_title: subject === '' ? category : `${category} (${subject})`,
    vuln_desc: paragraphs(info, asText(at(kind, 'desc')), asText(at(kind, 'sol'))),
    vuln_poc: asText(at(one, 'curl_command')),
    severity: part === 'additionals' ? 'info' : (LEVELS[Number(at(one, 'level'))] ?? 'info'),
    asset_type: 'web',
    asset_value: `${origin}${pathname}`,
    tags: ['wapiti', ...asTexts(at(one, 'module')), ...ids],
    detail_http_request: asText(at(one, 'http_request')),
    fingerprint: method === 'GET' ? '' : method,
    raw_vuln_json: JSON.stringify(one),
  })
}
