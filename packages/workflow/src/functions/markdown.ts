import { constants } from 'node:fs/promises'
import { join } from 'node:path'
import { parse as parseCsv } from 'csv-parse'
import type { Json } from '../model.ts'
import { fn, type FunctionContext, type FunctionGroup } from './define.ts'
import { MAX_TEXT_BYTES, readText } from './file.ts'
import { isThere, pathArg, writeText } from './files.ts'
import { rowsOf } from './jsonl.ts'
import type { RunPlace } from './allowed.ts'
import { openFile } from './run-folder.ts'
import { sarifRows } from './sarif.ts'

/** Rows of one table; a report of more is no report any more. */
const MAX_ROWS = 10_000
const MAX_COLUMNS = 100
/** Characters of all rows of a table. */
const MAX_TABLE = MAX_TEXT_BYTES
/** Expressions in one template of a report. */
const MAX_CALLS = 1000

/** Adds a row, as long as there is room for it. */
const rowsWithin = () => {
  const rows: Record<string, Json>[] = []
  let size = 0
  return {
    rows,
    add(row: Record<string, Json>): boolean {
      size += JSON.stringify(row).length
      if (rows.length >= MAX_ROWS || size > MAX_TABLE) return false
      rows.push(row)
      return true
    },
  }
}

const cell = (value: Json | undefined): string => {
  const text =
    value === undefined || value === null
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
  // What tools report comes from hosts: nothing in it may become markup.
  return text.replaceAll(/[\\`*_{}[\]<>#|]/g, String.raw`\$&`).replaceAll(/\s+/g, ' ')
}

const table = (columns: readonly string[], rows: readonly Record<string, Json>[]): string =>
  rows.length === 0
    ? '_nothing found_\n'
    : [
        `| ${columns.map(cell).join(' | ')} |`,
        `| ${columns.map(() => '---').join(' | ')} |`,
        ...rows.map((row) => `| ${columns.map((column) => cell(row[column])).join(' | ')} |`),
        '',
      ].join('\n')

const columnsOf = (rows: readonly Record<string, Json>[]): string[] => {
  const columns = new Set<string>()
  for (const row of rows)
    for (const key of Object.keys(row)) {
      columns.add(key)
      if (columns.size > MAX_COLUMNS) throw new Error(`a table may have at most ${MAX_COLUMNS} columns`)
    }
  return [...columns]
}

const jsonlTable = async (path: string, place: RunPlace): Promise<string> => {
  const { rows, add } = rowsWithin()
  for await (const row of rowsOf(path, place))
    if (!add(row)) return `${table(columnsOf(rows), rows)}\n_only the first ${rows.length} rows_\n`
  return table(columnsOf(rows), rows)
}

const csvTable = async (path: string, place: RunPlace): Promise<string> => {
  if (!(await isThere(path, place))) return ''
  const { rows, add } = rowsWithin()
  const parser = (await openFile(path, place, constants.O_RDONLY)).createReadStream().pipe(
    parseCsv({
      columns: true,
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_TABLE,
    }),
  )
  for await (const record of parser) if (!add(record as Record<string, Json>)) break
  return table(columnsOf(rows), rows)
}

const shown = (value: Json): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const CALLS = /```(?:osm-)?func\n([\s\S]*?)```|`([^`\n]+)`\{\.(?:osm-)?func\}/g

/**
 * `{{Variable}}`, code blocks named `osm-func` or `func`, and `` `expression`{.func} `` of a report's template. The
 * expressions are those of the template alone: the text of a variable is never searched for them, and a variable in one
 * is a value.
 */
const fill = async (template: string, context: FunctionContext): Promise<string> => {
  const parts: string[] = []
  let size = 0
  const add = (text: string): void => {
    size += text.length
    if (size > MAX_TEXT_BYTES) throw new Error(`the report would have more than ${MAX_TEXT_BYTES} characters`)
    parts.push(text)
  }
  const addText = (text: string): void => {
    let from = 0
    for (const { index, 0: whole, 1: name = '' } of text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)) {
      add(text.slice(from, index))
      add(shown(context.variable(name) ?? ''))
      from = index + whole.length
    }
    add(text.slice(from))
  }
  let [from, calls] = [0, 0]
  for (const { index, 0: whole, 1: block, 2: inline } of template.matchAll(CALLS)) {
    const source = (block ?? inline ?? '').trim()
    if (++calls > MAX_CALLS) throw new Error(`a template may hold at most ${MAX_CALLS} expressions`)
    addText(template.slice(from, index))
    add(await context.evaluate(source).then(shown, (error: Error) => `_${source}: ${error.message}_`))
    from = index + whole.length
  }
  addText(template.slice(from))
  return parts.join('')
}

const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^(#{1,6}) (.*)$/gm, '\u001B[1;36m$2\u001B[0m'],
  [/\*\*([^*\n]+)\*\*/g, '\u001B[1m$1\u001B[0m'],
  [/`([^`\n]+)`/g, '\u001B[33m$1\u001B[0m'],
  [/^([^\S\n]*)[-*] /gm, '$1• '],
]

const coloured = (markdown: string): string =>
  COLOURS.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), markdown)

export const MARKDOWN_FUNCTIONS: FunctionGroup = {
  title: 'Markdown and reports',
  functions: [
    fn(
      'convert_jsonl_to_markdown(source, dest)',
      'bool',
      'Writes the objects as a table.',
      async (args, at) => {
        await writeText(pathArg(args, 1, at), await jsonlTable(pathArg(args, 0, at), at), at)
        return true
      },
    ),
    fn(
      'convert_csv_to_markdown(path)',
      'text',
      'The rows as a table.',
      async (args, at) => await csvTable(pathArg(args, 0, at), at),
    ),
    fn(
      'convert_sarif_to_markdown(source, dest)',
      'bool',
      'Writes the results of a SARIF file as a table.',
      async (args, at) => {
        const rows = sarifRows(await readText(pathArg(args, 0, at), at))
        await writeText(pathArg(args, 1, at), table(['severity', 'rule', 'location', 'message'], rows), at)
        return true
      },
    ),
    fn(
      'render_markdown_report(template, dest)',
      'bool',
      'Writes a report: variables of the template are filled in, its `func` blocks evaluated.',
      async (args, at) => {
        await writeText(pathArg(args, 1, at), await fill(await readText(pathArg(args, 0, at), at), at), at)
        return true
      },
    ),
    fn(
      'generate_security_report(template)',
      'text',
      'Writes security-report.md out of a template and registers it as a report; answers its path.',
      async (args, at) => {
        const path = join(at.folders.output, 'security-report.md')
        await writeText(path, await fill(await readText(pathArg(args, 0, at), at), at), at)
        at.recorder.artifact({
          name: 'security-report.md',
          path,
          type: 'report',
          contentType: 'md',
          description: 'Security report',
        })
        return path
      },
    ),
    fn(
      'render_markdown_from_file(path)',
      'text',
      'The text of a Markdown file with colours for a terminal.',
      async (args, at) => coloured(await readText(pathArg(args, 0, at), at)),
    ),
    fn(
      'print_markdown_from_file(path)',
      'bool',
      'Prints a Markdown file with colours for a terminal.',
      async (args, at) => {
        at.print('stdout', `${coloured(await readText(pathArg(args, 0, at), at))}\n`)
        return true
      },
    ),
  ],
}
