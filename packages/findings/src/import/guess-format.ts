import { IMPORT_FORMATS, type ImportFormat } from '../formats.ts'
import { unreadable } from './read-body.ts'

/** Bytes of a file that are enough to recognise its format. */
export const HEAD = 64 * 1024

interface Shape {
  readonly format: ImportFormat
  /** Whether the document is a list of such objects. */
  readonly isList?: true
  /** Fields of the object, or of the first one of the list. */
  readonly fields: readonly string[]
}

const SHAPES: readonly Shape[] = [
  { format: 'sarif', fields: ['$schema', 'runs'] },
  { format: 'sarif', fields: ['version', 'runs'] },
  { format: 'jsonl', fields: ['vuln_info', 'asset_value'] },
  { format: 'nuclei', fields: ['template-id', 'info'] },
  { format: 'nuclei', fields: ['template_id', 'info'] },
  { format: 'wapiti', fields: ['classifications', 'vulnerabilities'] },
  { format: 'testssl', fields: ['Invocation', 'scanResult'] },
  { format: 'testssl', isList: true, fields: ['id', 'severity', 'finding'] },
  { format: 'whatweb', isList: true, fields: ['target', 'plugins'] },
  { format: 'masscan', isList: true, fields: ['ip', 'ports'] },
  { format: 'ffuf', fields: ['commandline', 'results'] },
]

/** Recognises the format by the start of a file. Throws if no format or more than one is possible. */
export const guessFormat = (head: Uint8Array): ImportFormat => {
  const text = Buffer.from(head)
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  const format = text.startsWith('<') ? xmlFormat(text) : jsonFormat(text)
  if (format !== undefined) return format
  const problem = text === '' ? 'the file is empty' : 'its format is not recognised'
  throw unreadable(`${problem}; name the format: ${IMPORT_FORMATS.join(', ')}`)
}

const xmlFormat = (text: string): ImportFormat | undefined => {
  if (/<nmaprun[\s>]/.test(text)) return 'nmap'
  return /<document\s+title="SSLScan/.test(text) ? 'sslscan' : undefined
}

const jsonFormat = (text: string): ImportFormat | undefined => {
  const isList = text.startsWith('[')
  const found = fieldsOf(text, isList ? 2 : 1)
  return SHAPES.find(
    (shape) => (shape.isList ?? false) === isList && shape.fields.every((name) => found.has(name)),
  )?.format
}

const TOKENS = /"((?:[^"\\]|\\.){0,64})"\s*(:?)|"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs

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
