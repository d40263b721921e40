import { createHash } from 'node:crypto'
import { constants } from 'node:fs/promises'
import { parse as parseCsv } from 'csv-parse'
import { XMLParser } from 'fast-xml-parser'
import type { Json } from '../model.ts'
import { fn, isObject, listArg, textArg, type FunctionContext, type FunctionGroup } from './define.ts'
import { readText } from './file.ts'
import { pathArg, writeLines, writeText } from './files.ts'
import { linesOf, MAX_LINE } from './lines.ts'
import type { RunPlace } from './allowed.ts'
import { checkPath, openFile } from './run-folder.ts'

type Row = Record<string, Json>

/** The objects of a JSONL file; lines that are none are left out. */
export const rowsOf = async function* (path: string, place: RunPlace): AsyncGenerator<Row> {
  for await (const line of linesOf(path, place)) {
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

/** `a.b` reads the key of that name, or goes into the object under `a`. */
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
  place: RunPlace,
  change: (row: Row) => string | undefined,
): AsyncGenerator<string> {
  for await (const row of rowsOf(path, place)) {
    const line = change(row)
    if (line !== undefined) yield line
  }
}

const cell = (value: Json | undefined): string => {
  const text =
    value === undefined || value === null
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Columns of one table. */
const MAX_COLUMNS = 1000

/** Columns in the order in which they first occur, over the whole file. */
const toCsv = async (source: string, dest: string, context: FunctionContext): Promise<number> => {
  const columns = new Set<string>()
  for await (const row of rowsOf(source, context))
    for (const key of Object.keys(row)) {
      columns.add(key)
      if (columns.size > MAX_COLUMNS) throw new Error(`more than ${MAX_COLUMNS} different keys`)
    }
  const lines = async function* () {
    yield [...columns].map(cell).join(',')
    yield* mapLines(source, context, (row) => [...columns].map((column) => cell(row[column])).join(','))
  }
  return (await writeLines(dest, lines(), context)) - 1
}

const fromCsv = async (source: string, dest: string, context: FunctionContext): Promise<number> => {
  const lines = async function* () {
    const parser = (await openFile(source, context, constants.O_RDONLY)).createReadStream().pipe(
      parseCsv({
        columns: true,
        bom: true,
        relax_column_count: true,
        skip_empty_lines: true,
        max_record_size: MAX_LINE,
      }),
    )
    for await (const record of parser) yield JSON.stringify(record)
  }
  return await writeLines(dest, lines(), context)
}

const asList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

const attribute = (value: unknown, ...path: string[]): string => {
  let at = value
  for (const key of path)
    at = typeof at === 'object' && at !== null && key in at ? (at as Record<string, unknown>)[key] : undefined
  return typeof at === 'string' || typeof at === 'number' ? String(at) : ''
}

const inside = (value: unknown, ...path: string[]): unknown => {
  let at = value
  for (const key of path)
    at = typeof at === 'object' && at !== null && key in at ? (at as Record<string, unknown>)[key] : undefined
  return at
}

/** One object for each port of an nmap XML report. */
const nmapRows = (xml: string): Row[] => {
  // Reports hold what hosts sent: no entities are followed, values stay texts.
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseAttributeValue: false,
    processEntities: true,
  })
  const report: unknown = parser.parse(xml)
  return asList(inside(report, 'nmaprun', 'host')).flatMap((host) => {
    const addresses = asList(inside(host, 'address'))
    const ip = attribute(
      addresses.find((address) => attribute(address, 'addrtype') !== 'mac'),
      'addr',
    )
    const [name] = asList(inside(host, 'hostnames', 'hostname'))
    return asList(inside(host, 'ports', 'port')).map((port): Row => {
      const service = inside(port, 'service')
      return {
        host: attribute(name, 'name') || ip,
        ip,
        port: Number(attribute(port, 'portid')),
        protocol: attribute(port, 'protocol'),
        state: attribute(port, 'state', 'state'),
        service: attribute(service, 'name'),
        product: attribute(service, 'product'),
        version: attribute(service, 'version'),
        extra_info: attribute(service, 'extrainfo'),
      }
    })
  })
}

const nmapToJsonl = async (source: string, dest: string, context: FunctionContext): Promise<number> =>
  await writeLines(
    dest,
    nmapRows(await readText(source, context)).map((row) => JSON.stringify(row)),
    context,
  )

const runNmap = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const target = textArg(args, 0)
  if (target === '' || target.startsWith('-')) throw new Error('run_nmap needs a target')
  const dest = args[2] === undefined ? `${context.folders.output}/nmap.jsonl` : pathArg(args, 2, context)
  const xml = `${dest}.xml`
  for (const path of [dest, xml]) await checkPath(path, context, 'write')
  const flags = textArg(args, 1, '-sV')
    .split(/\s+/)
    .filter((flag) => flag !== '')
  const { exitCode, stderr, problem } = await context.exec(['nmap', ...flags, '-oX', xml, '--', target])
  if (exitCode !== 0) throw new Error(`nmap failed: ${problem || stderr.trim() || `exit code ${exitCode}`}`)
  await nmapToJsonl(xml, dest, context)
  return dest
}

/** Distinct rows that `jsonl_unique` remembers, 32 bytes each. */
const MAX_UNIQUE = 5_000_000

export const JSONL_FUNCTIONS: FunctionGroup = {
  title: 'JSONL, CSV and tool output',
  functions: [
    fn('save_content(text, path)', 'bool', 'Writes a text to a file.', async (args, at) => {
      const value = args[0]
      await writeText(
        pathArg(args, 1, at),
        typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : textArg(args, 0),
        at,
      )
      return true
    }),
    fn(
      'jsonl_to_csv(source, dest)',
      'number',
      'Writes the objects as CSV; answers the number of rows.',
      async (args, at) => await toCsv(pathArg(args, 0, at), pathArg(args, 1, at), at),
    ),
    fn(
      'csv_to_jsonl(source, dest)',
      'number',
      'Writes the rows as JSONL; answers their number.',
      async (args, at) => await fromCsv(pathArg(args, 0, at), pathArg(args, 1, at), at),
    ),
    fn(
      'jsonl_filter(source, dest, fields)',
      'number',
      'Writes each object with only these fields (a list, or separated by commas); `a.b` becomes the key "a.b".',
      async (args, at) => {
        const fields = listArg(args, 2)
        const pick = (row: Row): string =>
          JSON.stringify(
            Object.fromEntries(
              fields.flatMap((field) => {
                const value = fieldOf(row, field)
                return value === undefined ? [] : [[field, value]]
              }),
            ),
          )
        return await writeLines(pathArg(args, 1, at), mapLines(pathArg(args, 0, at), at, pick), at)
      },
    ),
    fn(
      'jsonl_unique(source, dest, fields)',
      'number',
      'Writes only the first object of those that agree in these fields.',
      async (args, at) => {
        const fields = listArg(args, 2)
        const seen = new Set<string>()
        const once = (row: Row): string | undefined => {
          const key = createHash('sha1')
            .update(
              JSON.stringify(fields.length === 0 ? row : fields.map((field) => fieldOf(row, field) ?? null)),
            )
            .digest('base64')
          if (seen.has(key)) return undefined
          if (seen.size >= MAX_UNIQUE) throw new Error(`more than ${MAX_UNIQUE} different rows`)
          seen.add(key)
          return JSON.stringify(row)
        }
        return await writeLines(pathArg(args, 1, at), mapLines(pathArg(args, 0, at), at, once), at)
      },
    ),
    fn(
      'jsonl_rename_key(source, dest, renames)',
      'number',
      'Renames keys: `old:new`, separated by commas.',
      async (args, at) => {
        const renames = new Map(
          listArg(args, 2).map((pair): [string, string] => [
            pair.split(':')[0] ?? '',
            pair.split(':')[1] ?? '',
          ]),
        )
        const rename = (row: Row) =>
          JSON.stringify(
            Object.fromEntries(Object.entries(row).map(([key, value]) => [renames.get(key) ?? key, value])),
          )
        return await writeLines(pathArg(args, 1, at), mapLines(pathArg(args, 0, at), at, rename), at)
      },
    ),
    fn(
      'nmap_to_jsonl(source, dest)',
      'number',
      'One object for each port of an nmap XML report.',
      async (args, at) => await nmapToJsonl(pathArg(args, 0, at), pathArg(args, 1, at), at),
    ),
    fn(
      'run_nmap(target, flags?, dest?)',
      'text',
      'Runs nmap and writes its ports as JSONL; answers the path.',
      runNmap,
    ),
  ],
}
