import { constants } from 'node:fs/promises'
import { join } from 'node:path'
import { parse as parseCsv } from 'csv-parse'
import type { Json } from '../model.ts'
import { fn, type FunctionContext, type FunctionGroup } from './define.ts'
import { readText } from './file.ts'
import { isThere, pathArg, writeText } from './files.ts'
import { rowsOf } from './jsonl.ts'
import type { RunPlace } from './allowed.ts'
import { openFile } from './run-folder.ts'
import { sarifRows } from './sarif.ts'

/** Rows of one table; a report of more is no report any more. */
const MAX_ROWS = 10_000

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

const columnsOf = (rows: readonly Record<string, Json>[]): string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row))),
]

const jsonlTable = async (path: string, place: RunPlace): Promise<string> => {
  const rows: Record<string, Json>[] = []
  for await (const row of rowsOf(path, place)) {
    if (rows.length >= MAX_ROWS) return `${table(columnsOf(rows), rows)}\n_only the first ${MAX_ROWS} rows_\n`
    rows.push(row)
  }
  return table(columnsOf(rows), rows)
}

const csvTable = async (path: string, place: RunPlace): Promise<string> => {
  if (!(await isThere(path, place))) return ''
  const rows: Record<string, Json>[] = []
  const parser = (await openFile(path, place, constants.O_RDONLY))
    .createReadStream()
    .pipe(parseCsv({ columns: true, bom: true, relax_column_count: true, skip_empty_lines: true }))
  for await (const record of parser) {
    if (rows.length >= MAX_ROWS) break
    rows.push(record as Record<string, Json>)
  }
  return table(columnsOf(rows), rows)
}

const shown = (value: Json): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** `{{Variable}}`, code blocks named `osm-func` or `func`, and `` `expression`{.func} `` of a report's template. */
const fill = async (template: string, context: FunctionContext): Promise<string> => {
  let text = template.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) =>
    shown(context.variable(name) ?? ''),
  )
  const calls = [...text.matchAll(/```(?:osm-)?func\n([\s\S]*?)```|`([^`\n]+)`\{\.(?:osm-)?func\}/g)]
  for (const [whole, block, inline] of calls) {
    const source = (block ?? inline ?? '').trim()
    const result = await context
      .evaluate(source)
      .then(shown, (error: Error) => `_${source}: ${error.message}_`)
    text = text.replace(whole, () => result)
  }
  return text
}

const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^(#{1,6}) (.*)$/gm, '\u001B[1;36m$2\u001B[0m'],
  [/\*\*([^*\n]+)\*\*/g, '\u001B[1m$1\u001B[0m'],
  [/`([^`\n]+)`/g, '\u001B[33m$1\u001B[0m'],
  [/^(\s*)[-*] /gm, '$1• '],
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
