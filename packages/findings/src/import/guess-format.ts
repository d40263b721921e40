import { TextDecoder } from 'node:util'
import type { AppError } from '@scanfarm/contracts'
import { asText } from '../fields.ts'
import { formOf, IMPORT_FORMATS, type ImportFormat } from '../formats.ts'
import { encodingOf, unreadable } from './read-body.ts'
import { jsonParts } from './json/read-json.ts'
import { xmlParts } from './read-xml.ts'

/**
 * Formats by the fields of their object (`[]`: of the first one of their list, `[]?`: of either), or by the beginning of the
 * report (with the flag `m`: by any line). The first one applies that matches.
 */
const SIGNS: readonly (readonly [ImportFormat, string | RegExp])[] = [
  ['trivy', 'SchemaVersion,ArtifactName;ClusterName;[]Target,Type;[]Target,Vulnerabilities'],
  ['grype', 'matches,source;matches,descriptor'],
  // Tools of Python and Go write the version behind the results.
  ['sarif', 'runs'],
  ['jsonl', 'vuln_info,asset_value'],
  ['nuclei', '[]?template-id,info;[]?template_id,info;[]?templateID,info;[]?template,matched'],
  ['wapiti', 'classifications,vulnerabilities'],
  ['npm-audit', 'auditReportVersion;advisories,metadata;message,statusCode;value,children'],
  ['testssl', 'Invocation,scanResult;[]id,severity,finding'],
  ['whatweb', '[]?target,plugins'],
  ['masscan', '[]ip,ports;ip,rec_type,port;ip,timestamp,ports'],
  ['ffuf', 'commandline,results;input,position,status,url'],
  ['dirsearch', 'info,results;time,results'],
  ['zmap', '[]?saddr'],
  ['sslyze', 'server_scan_results'],
  ['gitleaks', '[]RuleID,File;[]offender,rule,file'],
  ['gosec', 'Golang errors,Issues'],
  ['pip-audit', 'dependencies,fixes;[]name,vulns'],
  ['osv-scanner', 'results,experimental_config'],
  // JSON whose object has only one field, or names fields by what was scanned.
  ['osv-scanner', /^\{\s*"results"\s*:\s*(?:\[\s*(?:\{\s*"(?:source|packages)"|\]\s*\}\s*$)|null\s*\}\s*$)/],
  // One that ends before its second field.
  ['grype', /^\{\s*"matches"\s*:\s*\[\s*\{\s*"vulnerability"/],
  ['pip-audit', /^\{\s*"dependencies"\s*:\s*\[\s*(?:\{\s*"name"|\]\s*\}\s*$)/],
  ['npm-audit', /^\{\s*"error"\s*:\s*\{\s*"code"/],
  // The registry could not be reached.
  [
    'npm-audit',
    /^\{\s*(?:"error"\s*:\s*\{[^{}]*\}\s*,\s*)?"message"\s*:\s*"(?:request to|network timeout at:|invalid json \w+ body at) http/,
  ],
  ['npm-audit', /^\{\s*"type"\s*:\s*"(?:audit[A-Z]\w+|info|warning|error)"[^{}]*"data"/],
  ['npm-audit', /^\{\s*"[^"]+"\s*:\s*\[\s*\{\s*"id"\s*:\s*\d+\s*,\s*"url"/],
  ['dirsearch', /^\{\s*"https?:\/\/[^"]+"\s*:\s*\[/],
  // Lines of text. nmap also prints open ports as masscan does.
  ['masscan', /^# ?masscan/im],
  ['masscan', /^(?:Starting masscan |Discovered open port \d+\/)/],
  ['masscan', /^(?:open|banner) \w+ \d+ [\da-f.:]+ \d{9,}\b/],
  ['nuclei', /^\[(?:INF|FTL)\] .*\bnuclei\b/m],
  ['ffuf', /^:: Progress: \[\d+\/\d+\] :: Job /m],
  ['gobuster', /^Gobuster v\d/m],
  ['gobuster', /^\S.*\s\(Status: \d+\)/m],
  ['gobuster', /^(?:Found: )?[\w.:-]+ Status: \d+ \[Size: \d+\]/m],
  ['gobuster', /^Found: [\w-]+(?:\.[\w-]+)+(?: \[|$)/m],
]

/** A scan without results: whatweb writes the list over two lines; nothing else says which tool wrote it. */
const emptyFormat = (text: string): ImportFormat | undefined => {
  if (/^\[[ \t]*\r?\n\s*\]\s*$/.test(text)) return 'whatweb'
  return /^(\[\s*\]\s*|null\s*|)$/.test(text) ? 'jsonl' : undefined
}

/** The first bytes of gzip, zip, zstd and xz. */
const PACKED = /^(?:1f8b|504b0304|28b52ffd|fd377a58)/

export const refusePacked = (head: Uint8Array): void => {
  if (PACKED.test(Buffer.from(head.subarray(0, 4)).toString('hex')))
    throw unreadable('it is compressed: unpack it first')
}

/** Recognises the format by the start of a file. */
export const formatOfHead = (head: Uint8Array): ImportFormat | undefined => {
  refusePacked(head)
  const text = decode(head).replaceAll(COLORS, '').trimStart()
  const report = text.slice(Math.max(text.search(REPORT), 0))
  if (report.startsWith('<')) return xmlFormat(report)
  return emptyFormat(text) ?? jsonFormat(report) ?? textFormat(text, report) ?? formatOfList(report)
}

const jsonFormat = (report: string): ImportFormat | undefined => {
  const isList = report.startsWith('[')
  return shapeOf(fieldsOf(report, isList ? 2 : 1), isList)
}

/** A list of reports. */
const formatOfList = (list: string): ImportFormat | undefined => {
  const report = list.replace(/^\[\s*(?=[[{])/, '')
  return report === list ? undefined : (jsonFormat(report) ?? textFormat('', report))
}

/** A key that no report has: lists and objects with it in a pattern are read through, and not kept. */
const NO_KEY = '\0'
/** The fields of the first object, and of the objects of a list. */
const KEYS = ['*', '[].*'].flatMap((at) => [at, `${at}.${NO_KEY}`, `${at}.[].${NO_KEY}`])

/** Recognises a report as far as it must be read: JSON by the fields of its first object, XML by its first element. */
export const formatOfStart = async (
  head: Uint8Array,
  body: AsyncIterable<Uint8Array>,
): Promise<ImportFormat | undefined> =>
  await (decode(head).trimStart().startsWith('<') ? formatOfRoot(body) : formatOfKeys(body))

const formatOfRoot = async (body: AsyncIterable<Uint8Array>): Promise<ImportFormat | undefined> => {
  for await (const part of xmlParts(body, '*', `*.${NO_KEY}`)) {
    if (part.kind === 'problem') continue
    const attributes = Object.entries(part.value ?? {}).map(([name, value]) => `${name}="${asText(value)}"`)
    return xmlFormat(`<${[...part.path, ...attributes].join(' ')}>`)
  }
  return undefined
}

const formatOfKeys = async (body: AsyncIterable<Uint8Array>): Promise<ImportFormat | undefined> => {
  const names = new Set<string>()
  for await (const part of jsonParts(body, ...KEYS)) {
    const isList = part.kind === 'value' && part.at === '[].*'
    if (part.kind === 'problem' || (!isList && part.at !== '*')) continue
    const [name = '', ...outer] = part.path.toReversed()
    // The next object begins.
    if (names.has(name) || (isList && outer[0] !== '0')) return undefined
    const format = shapeOf(names.add(name), isList)
    if (format !== undefined) return format
  }
  return undefined
}

export const notRecognised = (): AppError =>
  unreadable(`its format is not recognised; name it if it is one of ${IMPORT_FORMATS.map(formOf).join(', ')}`)

const shapeOf = (names: ReadonlySet<string>, inList: boolean): ImportFormat | undefined => {
  const fits = (fields: string): boolean => fields.split(',').every((name) => names.has(name))
  const matches = ([, list, fields = '']: RegExpMatchArray): boolean =>
    (list === '[]?' || (list === '[]') === inList) && fits(fields)
  return SIGNS.find(
    ([, sign]) => typeof sign === 'string' && sign.matchAll(/(\[\]\??)?([^;]+)/g).some(matches),
  )?.[0]
}

const textFormat = (text: string, report: string): ImportFormat | undefined =>
  SIGNS.find(([, sign]) => typeof sign !== 'string' && sign.test(sign.multiline ? text : report))?.[0]

const decode = (head: Uint8Array): string => new TextDecoder(encodingOf(head)).decode(head)

const xmlFormat = (text: string): ImportFormat | undefined => {
  if (/<nmaprun\s[^<>]*scanner\s*=\s*["']masscan["']/.test(text)) return 'masscan'
  if (/<nmaprun[\s>]/.test(text)) return 'nmap'
  return /<document\s[^<>]*title\s*=\s*["']SSLScan/.test(text) ? 'sslscan' : undefined
}

/** Also what clears a line. */
const COLORS = /\u001b\[[\d;]*[mK]/g

/** The line with which a report begins; before it may be lines of a log, like `[INF] …`. */
const REPORT = /^(?:\{|\[\s*[{"[\]]|<[?!a-z])/m

/** A string that is cut off goes to the end, so that its quotes are not looked at again. */
const TOKENS = /"((?:[^"\\]|\\.){0,64})"\s*(:?)|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[[\]{}]/gs

/** The names of fields of the first object at a depth. The text may be truncated. */
const fieldsOf = (text: string, wanted: number): ReadonlySet<string> => {
  const names = new Set<string>()
  let depth = 0
  for (const [token, name = '', colon] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
    else if (colon === ':' && depth === wanted) names.add(name)
    if (names.size > 0 && depth < wanted) break
  }
  return names
}
