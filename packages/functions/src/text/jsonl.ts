import { valueOr } from '@scanfarm/contracts'
import { createHash } from 'node:crypto'
import { constants } from 'node:fs/promises'
import { parse as parseCsv } from 'csv-parse'
import type { Json } from '@scanfarm/language'
import {
  answering,
  local,
  sending,
  isObject,
  NoResult,
  type FunctionContext,
  type FunctionGroup,
  type Run,
  type Call,
} from '../define.ts'
import { filePath, programPath, writeLines, writeText } from '../files/files.ts'
import { linesOf, MAX_LINE } from '../files/lines.ts'
import { nmapPortsToJsonl, nmapReached, nmapToJsonl, runNmap } from '../network/nmap.ts'
import type { FileScope } from '../paths/allowed.ts'
import { openFile } from '../paths/run-folder.ts'

type Row = Record<string, Json>

/** The objects of a JSONL file; other lines are skipped. */
export const rowsOf = async function* (path: string, scope: FileScope): AsyncGenerator<Row> {
  for await (const line of linesOf(path, scope)) {
    const row = parseObject(line)
    if (row !== undefined) yield row
  }
}

export const parseObject = (line: string): Row | undefined => {
  if (!line.trimStart().startsWith('{')) return undefined
  try {
    const value = JSON.parse(line) as Json
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** `a.b` reads the key of that name, or `b` of the object `a`. */
export const fieldOf = (row: Row, path: string): Json | undefined => {
  if (Object.hasOwn(row, path)) return row[path]
  let at: Json | undefined = row
  for (const key of path.split('.')) {
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

const mapLines = async function* (
  path: string,
  scope: FileScope,
  change: (row: Row) => string | undefined,
): AsyncGenerator<string> {
  for await (const row of rowsOf(path, scope)) {
    const line = change(row)
    if (line !== undefined) yield line
  }
}

/** Each JSON line with its value. */
const valuesOf = async function* (
  path: string,
  scope: FileScope,
): AsyncGenerator<{ line: string; value: Json }> {
  for await (const text of linesOf(path, scope)) {
    const line = text.trim()
    const value = parseValue(line)
    if (value !== undefined) yield { line, value }
  }
}

const parseValue = (line: string): Json | undefined =>
  valueOr(() => (line === '' ? undefined : (JSON.parse(line) as Json)), undefined)

const fieldsArg = (at: Call, index: number): string[] => {
  const fields = at
    .list(index)
    .map((field) => field.trim())
    .filter((field) => field !== '')
  if (fields.length === 0) throw new NoResult('no fields are named')
  return fields
}

/** A value as the text of one cell of a table. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const cell = (value: Json | undefined): string => {
  const text = cellText(value)
  return /[",\n\r]|^\s/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Maximum number of columns of a table. */
const MAX_COLUMNS = 1000

/** Columns of the whole file, in order of first occurrence. */
const toCsv: Run = async (context) => {
  const [source, dest] = [await filePath(context, 0), context.path(1)]
  const columns = new Set<string>()
  for await (const row of rowsOf(source, context))
    for (const key of Object.keys(row)) {
      columns.add(key)
      if (columns.size > MAX_COLUMNS) throw new Error(`more than ${MAX_COLUMNS} different keys`)
    }
  if (columns.size === 0) throw new NoResult(`${source} has no objects`)
  const lines = async function* () {
    yield [...columns].map(cell).join(',')
    yield* mapLines(source, context, (row) => [...columns].map((column) => cell(row[column])).join(','))
  }
  await writeLines(dest, lines(), context)
}

/** The rows of a CSV file as objects. `onHeader` is called with the names of the columns before the first one. */
export const csvRecords = async (
  path: string,
  scope: FileScope,
  maxChars: number,
  onHeader: (names: string[]) => void,
) => {
  const columns = (names: string[]): string[] => {
    onHeader(names)
    return names
  }
  const file = await openFile(path, scope, constants.O_RDONLY)
  return file.createReadStream().pipe(
    parseCsv({
      columns,
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxChars,
    }),
  )
}

const fromCsv: Run = async (context) => {
  const [source, dest] = [await filePath(context, 0), context.path(1)]
  let columns: string[] = []
  const lines = async function* () {
    const parser = await csvRecords(source, context, MAX_LINE, (names) => (columns = names))
    const none = () => Object.fromEntries(columns.map((column) => [column, '']))
    for await (const record of parser) yield JSON.stringify({ ...none(), ...record })
    if (columns.length === 0) throw new NoResult(`${source} has no line of names`)
  }
  await writeLines(dest, lines(), context)
}

/** An object with only these fields; an empty one if the value is not an object. */
const picked = (value: Json, fields: readonly string[]): string => {
  const row = isObject(value) ? value : {}
  const pairs = fields.map((field) => [field, fieldOf(row, field)] as const)
  return JSON.stringify(
    Object.fromEntries(pairs.filter(([, found]) => found !== undefined && found !== null)),
  )
}

/** 1 equals "1", and a missing value equals null. */
const keyText = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

const uniqueLines = async function* (
  source: string,
  fields: readonly string[],
  at: FunctionContext,
): AsyncGenerator<string> {
  const seen = new Set<string>()
  for await (const { line, value } of valuesOf(source, at)) {
    const row = isObject(value) ? value : {}
    const parts = fields.map((field) => keyText(field === '*' ? value : fieldOf(row, field)))
    const key = createHash('sha1').update(JSON.stringify(parts)).digest('base64')
    if (seen.has(key)) continue
    if (seen.size >= MAX_UNIQUE) throw new Error(`more than ${MAX_UNIQUE} different rows`)
    seen.add(key)
    yield line
  }
}

const renameOf = (pair: string): [string, string][] => {
  const at = pair.indexOf(':')
  const [from, to] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()]
  return from === '' || to === '' ? [] : [[from, to]]
}

/** Maximum number of distinct rows for `jsonl_unique`, 32 bytes each. */
const MAX_UNIQUE = 5_000_000

export const JSONL_FUNCTIONS: FunctionGroup = {
  title: 'JSONL, CSV and tool output',
  functions: [
    local('save_content(text, path): bool', 'Writes a text to a file.', async (at) => {
      const value = at.args[0]
      await writeText(at.path(1), isObject(value) ? JSON.stringify(value, null, 2) : at.text(0), at)
    }),
    local('jsonl_to_csv(source, dest): bool', 'Writes the objects as CSV; false if there are none.', toCsv),
    local(
      'csv_to_jsonl(source, dest): bool',
      'Writes the rows as JSONL; false if there is no header line.',
      fromCsv,
    ),
    local(
      'jsonl_filter(source, dest, fields): bool',
      'Writes each object with only these fields (a list, or separated by commas), without those that are null; `a.b` becomes the key "a.b". False if the source does not exist.',
      async (at) => {
        const [source, fields] = [await filePath(at, 0), fieldsArg(at, 2)]
        const lines = async function* () {
          for await (const { value } of valuesOf(source, at)) yield picked(value, fields)
        }
        await writeLines(at.path(1), lines(), at)
      },
    ),
    local(
      'jsonl_unique(source, dest, fields): bool',
      'Writes only the first line of those whose objects agree in these fields, as it is; the field `*` is the whole object. False if the source does not exist.',
      async (at) => {
        const [source, fields] = [await filePath(at, 0), fieldsArg(at, 2)]
        await writeLines(at.path(1), uniqueLines(source, fields, at), at)
      },
    ),
    local(
      'jsonl_rename_key(source, dest, renames): bool',
      'Renames keys: `old:new`, separated by commas. False if the source does not exist.',
      async (at) => {
        const source = await filePath(at, 0)
        const renames = new Map(at.list(2).flatMap(renameOf))
        if (renames.size === 0) throw new NoResult('no new names: write old:new')
        const rename = (row: Row) =>
          JSON.stringify(
            Object.fromEntries(Object.entries(row).map(([key, value]) => [renames.get(key) ?? key, value])),
          )
        await writeLines(at.path(1), mapLines(source, at, rename), at)
      },
    ),
    local(
      'nmap_to_jsonl(source, dest): bool',
      'One object for each host of an nmap report (XML, or .gnmap): asset_value, host_ip, asset_type, open_ports (`22/tcp`) and ports with their services.',
      async (at) => {
        const dest = await programPath(at, 1, 'write')
        return await nmapToJsonl(await filePath(at, 0), dest, at)
      },
    ),
    local(
      'nmap_ports_to_jsonl(source, dest, state?): number',
      'One object for each port of an nmap XML report: host, ip, port, protocol, state, service (`ssl/http` in TLS), product, version, extra_info, `guessed: true` if the service did not identify itself and only has the usual name of its port number, and os where nmap has found it; with a state only ports in it, such as `open`. Returns the number.',
      async (at) => {
        const dest = await programPath(at, 1, 'write')
        return await nmapPortsToJsonl(at.path(0), dest, at.text(2), at)
      },
    ),
    local(
      'nmap_reached(source, dest, scanned?): number',
      'Names and addresses of the hosts of an nmap report that answered, a line each. With -Pn nmap calls every host up: one that sent nothing back has not answered. Not of scans with --open, which leaves hosts out. With the file of scanned hosts also `? PLACE REASON` for hosts and ports that did not answer, and names without an address. Returns the number of hosts that answered.',
      nmapReached,
    ),
    answering(
      false,
      sending(
        'run_nmap(target, flags?, dest?): text',
        'Runs nmap, with -sV -T4 by default, and writes what `nmap_to_jsonl` does; returns the path, or false.',
        runNmap,
      ),
    ),
  ],
}
