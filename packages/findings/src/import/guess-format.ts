import { TextDecoder } from 'node:util'
import type { AppError } from '@scanfarm/contracts'
import { asText } from '../fields.ts'
import { formOf, IMPORT_FORMATS, type ImportFormat } from '../formats.ts'
import { encodingOf, unreadable } from './read-body.ts'
import { jsonParts } from './json/read-json.ts'
import { xmlParts } from './read-xml.ts'

/** Bytes of a file that mostly are enough to recognise its format. */
export const HEAD = 64 * 1024

interface Shape {
  readonly format: ImportFormat
  /** Whether the document is a list of such objects. */
  readonly isList?: true
  /** Fields of the object, or of the first one of the list. */
  readonly fields: readonly string[]
}

const both = (format: ImportFormat, ...fields: string[]): Shape[] => [
  { format, fields },
  { format, fields, isList: true },
]

/** The first shape that matches applies: those with more fields stand before those with fewer. */
const SHAPES: readonly Shape[] = [
  { format: 'trivy', fields: ['SchemaVersion', 'ArtifactName'] },
  { format: 'trivy', fields: ['ClusterName'] },
  { format: 'grype', fields: ['matches', 'source'] },
  { format: 'grype', fields: ['matches', 'descriptor'] },
  // Tools of Python and Go write the version behind the results.
  { format: 'sarif', fields: ['runs'] },
  { format: 'jsonl', fields: ['vuln_info', 'asset_value'] },
  ...both('nuclei', 'template-id', 'info'),
  ...both('nuclei', 'template_id', 'info'),
  ...both('nuclei', 'templateID', 'info'),
  ...both('nuclei', 'template', 'matched'),
  { format: 'wapiti', fields: ['classifications', 'vulnerabilities'] },
  { format: 'npm-audit', fields: ['auditReportVersion'] },
  { format: 'npm-audit', fields: ['advisories', 'metadata'] },
  { format: 'npm-audit', fields: ['message', 'statusCode'] },
  { format: 'npm-audit', fields: ['value', 'children'] },
  { format: 'testssl', fields: ['Invocation', 'scanResult'] },
  { format: 'testssl', isList: true, fields: ['id', 'severity', 'finding'] },
  ...both('whatweb', 'target', 'plugins'),
  { format: 'masscan', isList: true, fields: ['ip', 'ports'] },
  { format: 'masscan', fields: ['ip', 'rec_type', 'port'] },
  { format: 'masscan', fields: ['ip', 'timestamp', 'ports'] },
  { format: 'ffuf', fields: ['commandline', 'results'] },
  { format: 'ffuf', fields: ['input', 'position', 'status', 'url'] },
  { format: 'dirsearch', fields: ['info', 'results'] },
  { format: 'dirsearch', fields: ['time', 'results'] },
  ...both('zmap', 'saddr'),
  { format: 'sslyze', fields: ['server_scan_results'] },
  { format: 'gitleaks', isList: true, fields: ['RuleID', 'File'] },
  { format: 'gitleaks', isList: true, fields: ['offender', 'rule', 'file'] },
  { format: 'gosec', fields: ['Golang errors', 'Issues'] },
  { format: 'pip-audit', fields: ['dependencies', 'fixes'] },
  { format: 'pip-audit', isList: true, fields: ['name', 'vulns'] },
  { format: 'osv-scanner', fields: ['results', 'experimental_config'] },
  { format: 'trivy', isList: true, fields: ['Target', 'Type'] },
  { format: 'trivy', isList: true, fields: ['Target', 'Vulnerabilities'] },
]

/** Formats of text, by a line of the start. nmap also prints open ports as masscan does. */
const LINES: readonly (readonly [ImportFormat, RegExp])[] = [
  ['masscan', /^# ?masscan/im],
  [
    'masscan',
    /^(?:Starting masscan |Discovered open port \d+\/|(?:open|banner) \w+ \d+ [\da-f.:]+ \d{9,}\b)/,
  ],
  ['nuclei', /^\[(?:INF|FTL)\] .*\bnuclei\b/m],
  ['ffuf', /^:: Progress: \[\d+\/\d+\] :: Job /m],
  ['gobuster', /^Gobuster v\d/m],
  ['gobuster', /^\S+\s+\(Status: \d+\)/m],
  ['gobuster', /^(?:Found: )?[\w.:-]+ Status: \d+ \[Size: \d+\]/m],
  ['gobuster', /^Found: [\w-]+(?:\.[\w-]+)+(?: \[|$)/m],
]

/** JSON whose object has only one field, or names fields by what was scanned: by what it begins with. */
const STARTS: readonly (readonly [ImportFormat, RegExp])[] = [
  ['osv-scanner', /^\{\s*"results"\s*:\s*\[\s*(?:\{\s*"(?:source|packages)"|\]\s*\}\s*$)/],
  ['pip-audit', /^\{\s*"dependencies"\s*:\s*\[\s*(?:\{\s*"name"|\]\s*\}\s*$)/],
  ['npm-audit', /^\{\s*"error"\s*:\s*\{\s*"code"/],
  ['npm-audit', /^\{\s*"type"\s*:\s*"(?:audit[A-Z]\w+|info|warning|error)"[^{}]*"data"/],
  ['npm-audit', /^\{\s*"[^"]+"\s*:\s*\[\s*\{\s*"id"\s*:\s*\d+\s*,\s*"url"/],
  ['dirsearch', /^\{\s*"https?:\/\/[^"]+"\s*:\s*\[/],
]

/** A scan without results: whatweb writes the list over two lines; nothing else says which tool wrote it. */
const emptyFormat = (text: string): ImportFormat | undefined => {
  if (/^\[[ \t]*\r?\n\s*\]\s*$/.test(text)) return 'whatweb'
  return /^(\[\s*\]\s*|null\s*|)$/.test(text) ? 'jsonl' : undefined
}

/** The first bytes of gzip and zip. */
const PACKED = /^(?:1f8b|504b0304)/

/** Recognises the format by the start of a file. */
export const formatOfHead = (head: Uint8Array): ImportFormat | undefined => {
  if (PACKED.test(Buffer.from(head.subarray(0, 4)).toString('hex')))
    throw unreadable('it is compressed: unpack it first')
  const text = decode(head).replaceAll(COLORS, '').trimStart()
  const report = text.slice(Math.max(text.search(REPORT), 0))
  if (report.startsWith('<')) return xmlFormat(report)
  return emptyFormat(text) ?? jsonFormat(report) ?? LINES.find(([, pattern]) => pattern.test(text))?.[0]
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

const shapeOf = (names: ReadonlySet<string>, inList: boolean): ImportFormat | undefined =>
  SHAPES.find(({ isList = false, fields }) => isList === inList && fields.every((name) => names.has(name)))
    ?.format

const decode = (head: Uint8Array): string => new TextDecoder(encodingOf(head)).decode(head)

const xmlFormat = (text: string): ImportFormat | undefined => {
  if (/<nmaprun\s[^<>]*scanner="masscan"/.test(text)) return 'masscan'
  if (/<nmaprun[\s>]/.test(text)) return 'nmap'
  return /<document\s+title="SSLScan/.test(text) ? 'sslscan' : undefined
}

/** Also what clears a line. */
const COLORS = /\u001b\[[\d;]*[mK]/g

/** The line with which a report begins; before it may be lines of a log, like `[INF] …`. */
const REPORT = /^(?:\{|\[\s*[{"[\]]|<[?!a-z])/m

const jsonFormat = (text: string): ImportFormat | undefined => {
  const isList = text.startsWith('[')
  return (
    shapeOf(fieldsOf(text, isList ? 2 : 1), isList) ?? STARTS.find(([, pattern]) => pattern.test(text))?.[0]
  )
}

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
