import { join } from 'node:path'
import { Readable } from 'node:stream'
import { SEVERITIES } from '@scanfarm/contracts'
import { sarifReport } from '@scanfarm/findings'
import type { Json } from '@scanfarm/language'
import { local, sending, NoResult, type FunctionContext, type FunctionGroup, type Call } from '../define.ts'
import { MAX_TEXT_BYTES, readText } from '../files/file.ts'
import { isThere, filePath, programPath, writeText } from '../files/files.ts'
import { cellText, csvRecords, parseObject, rowsOf } from './jsonl.ts'
import type { FileScope } from '../paths/allowed.ts'

/** Maximum number of rows of a table. */
const MAX_ROWS = 10_000
const MAX_COLUMNS = 100
/** Maximum number of characters of all rows of a table. */
const MAX_TABLE = MAX_TEXT_BYTES
/** Maximum number of expressions in a template of a report. */
const MAX_CALLS = 1000

/** Adds a row if it fits into the limits. */
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

const cell = (value: Json | undefined): string =>
  // Reports of tools contain data sent by hosts: it must not become a cell, a tag, a link, or code of a template.
  cellText(value)
    .replaceAll(/[\\`<>|]|\](?=\()|\{(?=[{.])/g, String.raw`\$&`)
    .replaceAll(/\s+/g, ' ')

const table = (columns: readonly string[], rows: readonly Record<string, Json>[]): string =>
  [
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

/** Maximum number of characters of a message in a table. */
const MAX_MESSAGE = 200

const short = (text: string): string =>
  text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)}...`

/** Code in a cell, escaped so that it ends neither the code nor the cell. */
const code = (text: string): string =>
  `\`${text
    .replaceAll('`', "'")
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s+/g, ' ')}\``

const sarifTable = async (text: string): Promise<string> => {
  const { tool, rows } = await sarifReport(Readable.from([Buffer.from(text)]))
  const count = (severity: string) => rows.filter((row) => row.severity === severity).length
  const sorted = rows.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
  const numbers = SEVERITIES.slice(0, -1).map(
    (severity) => `${severity.replace(/^./, (letter) => letter.toUpperCase())}: ${count(severity)}`,
  )
  const lines = sorted.map(
    ({ severity, location, title, message, rule }) =>
      `| ${severity} | ${code(location || rule)} | ${cell(title)} | ${cell(short(message))} |`,
  )
  const columns = '| Severity | Location | Title | Description |\n| --- | --- | --- | --- |'
  return [
    `# SARIF Results — ${cell(tool || 'Unknown')}\n`,
    `**Total: ${rows.length} findings** | ${numbers.join(' | ')}\n`,
    ...(rows.length === 0 ? [] : [columns, ...lines]),
    '',
  ].join('\n')
}

const jsonlTable = async (path: string, scope: FileScope): Promise<string> => {
  const { rows, add } = rowsWithin()
  for await (const row of rowsOf(path, scope))
    if (!add(row)) return `${table(columnsOf(rows), rows)}\n_only the first ${rows.length} rows_\n`
  if (rows.length === 0) throw new NoResult(`${path} has no objects`)
  return table(columnsOf(rows), rows)
}

const csvTable = async (path: string, scope: FileScope): Promise<string> => {
  if (!(await isThere(path, scope))) return ''
  const { rows, add } = rowsWithin()
  let columns: string[] = []
  const parser = await csvRecords(path, scope, MAX_TABLE, (names) => (columns = names))
  for await (const record of parser) if (!add(record as Record<string, Json>)) break
  return columns.length === 0 ? '' : table(columns, rows)
}

const shown = (value: Json): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Escaped so that the text cannot end the comment. */
const problem = (message: string): string => `<!-- ERROR: ${message.replaceAll(/--+/g, '-')} -->`

const CALLS = /```(?:osm-)?func\n([\s\S]*?)```|`([^`\n]+)`\{\.(?:osm-)?func\}/g

/**
 * Expands `{{Variable}}`, code blocks named `osm-func` or `func`, and `` `expression`{.func} `` in a report's template. The
 * expressions are only those of the template: the texts of variables are not searched, and a variable in an expression
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
      const value = context.variable(name)
      add(value === undefined ? whole : shown(value))
      from = index + whole.length
    }
    add(text.slice(from))
  }
  let [from, calls] = [0, 0]
  for (const { index, 0: whole, 1: block, 2: inline } of template.matchAll(CALLS)) {
    const source = (block ?? inline ?? '').trim()
    if (++calls > MAX_CALLS) throw new Error(`a template may hold at most ${MAX_CALLS} expressions`)
    addText(template.slice(from, index))
    add(await context.evaluate(source).then(shown, (error: Error) => problem(error.message)))
    from = index + whole.length
  }
  addText(template.slice(from))
  return parts.join('')
}

/** The text of a template. */
const templateArg = async (at: Call): Promise<string> => await readText(await filePath(at, 0), at)

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
    local(
      'convert_jsonl_to_markdown(source, dest): bool',
      'Writes the objects as a table; false if there are none.',
      async (at) => {
        const dest = await programPath(at, 1, 'write')
        await writeText(dest, await jsonlTable(at.path(0), at), at)
      },
    ),
    local('convert_csv_to_markdown(path): text', 'The rows as a table.', (at) => csvTable(at.path(0), at)),
    local(
      'convert_sarif_to_markdown(source, dest): bool',
      'Writes the results of a SARIF file as a report, the most severe first; false if the source is no SARIF file.',
      async (at) => {
        const dest = await programPath(at, 1, 'write')
        const text = await templateArg(at)
        if (parseObject(text) === undefined) throw new NoResult('not SARIF: the file is not a JSON object')
        await writeText(dest, await sarifTable(text), at)
      },
    ),
    sending(
      'render_markdown_report(template, dest): bool',
      'Writes a report: variables of the template are filled in, its `func` blocks evaluated. False if the template does not exist.',
      async (at) => {
        const dest = await programPath(at, 1, 'write')
        await writeText(dest, await fill(await templateArg(at), at), at)
      },
    ),
    sending(
      'generate_security_report(template): bool',
      'Writes security-report.md from a template into the output folder and registers it as a report.',
      async (at) => {
        const path = join(at.folders.output, 'security-report.md')
        await writeText(path, await fill(await templateArg(at), at), at)
        at.recorder.artifact({
          name: 'security-report.md',
          path,
          type: 'report',
          contentType: 'md',
          description: 'Security report',
        })
      },
    ),
    local(
      'render_markdown_from_file(path): text',
      'The text of a Markdown file with colours for a terminal.',
      async (at) => coloured(await readText(at.path(0), at)),
    ),
    local(
      'print_markdown_from_file(path): text',
      'Prints a Markdown file with colours for a terminal and returns that text.',
      async (at) => {
        const text = coloured(await templateArg(at))
        at.print('stdout', `${text}\n`)
        return text
      },
    ),
  ],
}
