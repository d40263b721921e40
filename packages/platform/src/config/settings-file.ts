import { readFileSync } from 'node:fs'
import { isMap, isScalar, LineCounter, parseDocument, type Node, type YAMLMap } from 'yaml'
import { fileErrorText } from '../error-text.ts'

export interface FileValue {
  readonly raw: unknown
  readonly line: number
}

export interface SettingsFile {
  readonly values: ReadonlyMap<string, FileValue>
  readonly problems: readonly string[]
}

/** What to do about an unknown key. */
type Hint = (key: string) => string

interface Reader {
  readonly file: string
  readonly known: ReadonlySet<string>
  readonly hint: Hint
  readonly lines: LineCounter
  readonly values: Map<string, FileValue>
  readonly problems: string[]
}

const lineOf = (reader: Reader, node: unknown): number => {
  const range = (node as Node | null)?.range
  return range ? reader.lines.linePos(range[0]).line : 0
}

const readPair = (reader: Reader, key: string, node: unknown, value: unknown): void => {
  const line = lineOf(reader, node)
  if (reader.known.has(key)) {
    if (reader.values.has(key))
      reader.problems.push(`${reader.file}:${line}: ${key} is given twice: keep one`)
    const raw = (value as Node | null)?.toJSON() as unknown
    if (raw !== null && raw !== undefined) reader.values.set(key, { raw, line })
    return
  }
  if (isMap(value)) readMap(reader, value, `${key}.`)
  else if (isScalar(value) && value.value === null && isGroup(reader, key)) return
  else reader.problems.push(`${reader.file}:${line}: unknown key ${key}: ${reader.hint(key)}`)
}

const isGroup = (reader: Reader, key: string): boolean =>
  [...reader.known].some((known) => known.startsWith(`${key}.`))

const readMap = (reader: Reader, map: YAMLMap, prefix: string): void => {
  for (const pair of map.items) {
    const name = isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
    readPair(reader, prefix + name, pair.key, pair.value)
  }
}

/**
 * The values of a settings file by dotted key. `cloud: {enabled: true}` and `cloud.enabled: true` mean the same. A file
 * that cannot be read, bad YAML and unknown keys are problems, all of them reported.
 */
export const readSettingsFile = (file: string, known: ReadonlySet<string>, hint: Hint): SettingsFile => {
  const reader: Reader = { file, known, hint, lines: new LineCounter(), values: new Map(), problems: [] }
  let source: string
  try {
    source = readFileSync(file, 'utf8')
  } catch (error) {
    return {
      values: reader.values,
      problems: [`settings file ${file} cannot be read: ${fileErrorText(error)}`],
    }
  }
  const document = parseDocument(source, { lineCounter: reader.lines, prettyErrors: false })
  for (const error of document.errors) {
    const { line, col } = reader.lines.linePos(error.pos[0])
    reader.problems.push(`${file}:${line}:${col}: ${error.message}`)
  }
  if (reader.problems.length > 0) return reader
  if (isMap(document.contents)) readMap(reader, document.contents, '')
  else if (document.contents !== null)
    reader.problems.push(`${file}:1: must hold keys and values, such as \`http.port: 8002\``)
  return reader
}
