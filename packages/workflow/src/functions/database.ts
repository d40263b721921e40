import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { ContentType } from '@scanfarm/contracts'
import type { Json } from '../model.ts'
import {
  fn,
  needing,
  isObject,
  textArg,
  type FunctionContext,
  type FunctionDefinition,
  type FunctionGroup,
} from './define.ts'
import { readText } from './file.ts'
import { pathArg, writeLines, writeText } from './files.ts'
import {
  customAsset,
  dnsAsset,
  httpAsset,
  lineSeverity,
  portAsset,
  sarifVulnerabilities,
  vulnerability,
  type Row,
} from './findings.ts'
import { parseObject } from './jsonl.ts'
import { countLines, linesOf } from './lines.ts'
import type { DatabaseService, ImportCounts } from './services.ts'

const MISSING = 'this function needs the database of a server, and this run has none'

const service = ({ services }: FunctionContext): DatabaseService => {
  if (services.database !== undefined) return services.database
  throw new Error(MISSING)
}

/** Rows that go to the database at once. */
const BATCH = 500

const workspaceArg = (args: readonly Json[], index: number, { workspace }: FunctionContext): string =>
  textArg(args, index) || workspace

const answer = (counts: ImportCounts): Json => ({
  ...counts,
  total: counts.new + counts.updated + counts.unchanged + counts.errors,
})

const add = (a: ImportCounts, b: ImportCounts): ImportCounts => ({
  new: a.new + b.new,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
  errors: a.errors + b.errors,
})

const NONE: ImportCounts = { new: 0, updated: 0, unchanged: 0, errors: 0 }

type Write = (workspace: string, rows: readonly Row[]) => Promise<ImportCounts>

const inBatches = async (
  workspace: string,
  rows: AsyncIterable<Row> | Iterable<Row>,
  write: Write,
): Promise<Json> => {
  let counts = NONE
  let batch: Row[] = []
  const flush = async () => {
    if (batch.length > 0) counts = add(counts, await write(workspace, batch))
    batch = []
  }
  for await (const row of rows) {
    batch.push(row)
    if (batch.length >= BATCH) await flush()
  }
  // That a file was read and held nothing is worth knowing too: it says what is no longer there.
  if (batch.length > 0 || counts === NONE) counts = add(counts, await write(workspace, batch))
  return answer(counts)
}

/** Objects of a JSONL file; a line of plain text is an object with a value. */
const rowsOfFile = async function* (path: string, change: (row: Row) => Row): AsyncGenerator<Row> {
  for await (const line of linesOf(path)) {
    if (line.trim() === '') continue
    yield change(parseObject(line) ?? { value: line.trim(), host: line.trim() })
  }
}

const writeTo = (kind: 'assets' | 'vulnerabilities', at: FunctionContext): Write => {
  const database = service(at)
  return async (workspace, rows) =>
    kind === 'assets'
      ? await database.importAssets(workspace, rows, at.stepPath)
      : await database.importVulnerabilities(workspace, rows, at.stepPath)
}

/** A file that was never written says nothing about what is there: then nothing is imported, not even nothing. */
const whereWritten = async (path: string, work: (path: string) => Promise<Json>): Promise<Json> =>
  (await stat(path).catch(() => undefined)) === undefined ? answer(NONE) : await work(path)

const importFile =
  (kind: 'assets' | 'vulnerabilities', change: (row: Row, args: readonly Json[]) => Row) =>
  async (args: readonly Json[], at: FunctionContext): Promise<Json> => {
    const write = writeTo(kind, at)
    return await whereWritten(pathArg(args, 1, at), (path) =>
      inBatches(
        workspaceArg(args, 0, at),
        rowsOfFile(path, (row) => change(row, args)),
        write,
      ),
    )
  }

const objectArg = (args: readonly Json[], index: number): Row => {
  const value = args[index]
  const parsed = typeof value === 'string' ? (JSON.parse(value) as Json) : value
  if (isObject(parsed)) return parsed
  throw new Error(`argument ${index + 1} must be a JSON object`)
}

const importOne =
  (kind: 'assets' | 'vulnerabilities', change: (args: readonly Json[]) => Row) =>
  async (args: readonly Json[], at: FunctionContext): Promise<Json> =>
    answer(await writeTo(kind, at)(workspaceArg(args, 0, at), [change(args)]))

/** Adds the lines of a file to a counter; 0 sets it back. */
const counter = (name: string): FunctionDefinition =>
  fn(
    `db_total_${name}(path)`,
    'number',
    `Adds the non-empty lines of a file to the number of ${name} of the workspace; 0 sets it back. Answers the number.`,
    async (args, at) => {
      const path = textArg(args, 0)
      const by = /^\d*$/.test(path)
        ? path === '0' || path === ''
          ? ('reset' as const)
          : Number(path)
        : await countLines(pathArg(args, 0, at))
      return await service(at).count(at.workspace, name, by)
    },
  )

const severityCounter = (severity: string): FunctionDefinition =>
  fn(
    `db_vuln_${severity}(path)`,
    'number',
    `Adds the findings of severity ${severity} in a file to the workspace's number. Answers the number.`,
    async (args, at) => {
      let count = 0
      for await (const line of linesOf(pathArg(args, 0, at))) if (lineSeverity(line) === severity) count++
      return await service(at).count(at.workspace, `vuln_${severity}`, count)
    },
  )

const formatted = (rows: readonly Row[], format: string): string => {
  if (format === 'jsonl' || format === 'json') return rows.map((row) => JSON.stringify(row)).join('\n')
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cell = (value: Json | undefined) =>
    (value === undefined || value === null
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
    ).replaceAll(/[|\n]/g, ' ')
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => cell(row[column])))),
  ].join('\n')
}

const filterOf = (pairs: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== ''))

const selectTotal = (
  name: string,
  kind: 'assets' | 'vulnerabilities',
  filter: Record<string, string>,
): FunctionDefinition =>
  fn(`${name}()`, 'number', 'How many of these the workspace has.', async (_args, at) => {
    const database = service(at)
    return (
      kind === 'assets'
        ? await database.assets(at.workspace, filter)
        : await database.vulnerabilities(at.workspace, filter)
    ).length
  })

const noSql = (head: string): FunctionDefinition =>
  fn(
    head,
    'never',
    'SQL of workflows is not carried out; use the db_select_… functions with filters.',
    () => {
      throw new Error(
        'SQL of workflows is not carried out; use db_select_assets_filtered or db_select_vulnerabilities_filtered',
      )
    },
  )

const CONTENT: Readonly<Record<string, ContentType>> = {
  '.json': 'json', '.jsonl': 'jsonl', '.yaml': 'yaml', '.yml': 'yaml', '.html': 'html', '.htm': 'html', '.md': 'md', '.markdown': 'md',
  '.log': 'log', '.pdf': 'pdf', '.png': 'png', '.txt': 'txt', '.csv': 'txt', '.zip': 'zip',
} // prettier-ignore

const TYPES: Readonly<Record<string, ContentType>> = {
  text: 'txt',
  txt: 'txt',
  jsonl: 'jsonl',
  json: 'json',
  markdown: 'md',
  md: 'md',
  html: 'html',
}

const artifact = async (args: readonly Json[], at: FunctionContext, word: string): Promise<Json> => {
  const path = pathArg(args, 0, at)
  const facts = await stat(path).catch(() => undefined)
  if (facts === undefined) throw new Error(`${path} does not exist`)
  const contentType = facts.isDirectory()
    ? 'folder'
    : (TYPES[word.toLowerCase()] ?? CONTENT[extname(path).toLowerCase()] ?? 'unknown')
  const type = word === 'screenshot' || word === 'report' ? word : 'output'
  at.recorder.artifact({ name: basename(path), path, type, contentType, description: '' })
  return true
}

const difference = (kind: 'asset' | 'vuln', toFile: boolean): FunctionDefinition =>
  fn(
    toFile ? `db_${kind}_diff_to_file(workspace, dest)` : `db_${kind}_diff(workspace)`,
    toFile ? 'bool' : 'text',
    `What was found by this run for the first time, as JSONL.`,
    async (args, at) => {
      const database = service(at)
      const filter = { first_seen_run: at.runUuid }
      const workspace = workspaceArg(args, 0, at)
      const rows =
        kind === 'asset'
          ? await database.assets(workspace, filter)
          : await database.vulnerabilities(workspace, filter)
      if (!toFile) return formatted(rows, 'jsonl')
      await writeLines(
        pathArg(args, 1, at),
        rows.map((row) => JSON.stringify(row)),
        at,
      )
      return true
    },
  )

const SEVERITY_WORDS = ['critical', 'high', 'medium', 'low'] as const

/** These need nothing but the run itself. */
const LOCAL = new Set(['register_artifact', 'store_artifact', 'runtime_export', 'db_reset_event_logs'])

const ALL: readonly FunctionDefinition[] = [
  fn(
    'register_artifact(path, type?)',
    'bool',
    'Keeps a file as an artifact of the run; needs no database.',
    async (args, at) => await artifact(args, at, textArg(args, 1)),
  ),
  fn(
    'store_artifact(path)',
    'bool',
    'Keeps a file as an artifact of the run; needs no database.',
    async (args, at) => await artifact(args, at, ''),
  ),
  fn(
    'db_import_asset(workspace, json)',
    'object',
    'Adds or updates an asset; answers {new, updated, unchanged, errors, total}.',
    importOne('assets', (args) => customAsset(objectArg(args, 1), 'other', 'workflow')),
  ),
  fn(
    'db_quick_import_asset(workspace, value, type?)',
    'object',
    'Adds or updates an asset by its value.',
    importOne('assets', (args) => ({
      asset_value: textArg(args, 1),
      asset_type: textArg(args, 2, 'subdomain'),
      source: 'workflow',
    })),
  ),
  fn(
    'db_raw_insert_asset(workspace, json)',
    'object',
    'The same as db_import_asset.',
    importOne('assets', (args) => customAsset(objectArg(args, 1), 'other', 'workflow')),
  ),
  fn(
    'db_partial_import_asset(workspace, type, value)',
    'object',
    'Adds or updates an asset by its value.',
    importOne('assets', (args) => ({
      asset_value: textArg(args, 2),
      asset_type: textArg(args, 1),
      source: 'workflow',
    })),
  ),
  fn(
    'db_partial_import_asset_file(workspace, type, path)',
    'object',
    'Adds or updates an asset for each line.',
    async (args, at) => {
      const type = textArg(args, 1)
      const write = writeTo('assets', at)
      return await whereWritten(pathArg(args, 2, at), (path) => {
        const rows = rowsOfFile(path, (row) => customAsset(row, type, 'workflow'))
        return inBatches(workspaceArg(args, 0, at), rows, write)
      })
    },
  ),
  fn(
    'db_import_asset_from_file(workspace, path)',
    'object',
    'Assets from the JSONL of httpx.',
    importFile('assets', httpAsset),
  ),
  fn(
    'db_import_dns_asset(workspace, path)',
    'object',
    'Assets from the JSONL of dnsx, or from host names.',
    importFile('assets', dnsAsset),
  ),
  fn(
    'db_import_port_assets(workspace, path, source?)',
    'object',
    'Open ports from the JSONL of naabu or nmap_to_jsonl.',
    importFile('assets', (row, args) => portAsset(row, textArg(args, 2, 'nmap'))),
  ),
  fn(
    'db_import_custom_asset(workspace, path, type?, source?)',
    'object',
    'Assets from any JSONL or list.',
    importFile('assets', (row, args) =>
      customAsset(row, textArg(args, 2, 'other'), textArg(args, 3, 'workflow')),
    ),
  ),
  fn(
    'db_import_vuln(workspace, json)',
    'object',
    'Adds or updates a finding in the format of nuclei.',
    importOne('vulnerabilities', (args) => vulnerability(objectArg(args, 1))),
  ),
  fn(
    'db_import_vuln_from_file(workspace, path)',
    'object',
    'Findings from the JSONL of nuclei.',
    importFile('vulnerabilities', vulnerability),
  ),
  fn(
    'db_import_vigolium(workspace, path, source?)',
    'object',
    'Findings from the JSONL of other scanners.',
    importFile('vulnerabilities', vulnerability),
  ),
  fn('db_import_sarif(workspace, path)', 'object', 'Findings from a SARIF file.', async (args, at) => {
    const write = writeTo('vulnerabilities', at)
    return await whereWritten(pathArg(args, 1, at), async (path) =>
      inBatches(workspaceArg(args, 0, at), sarifVulnerabilities(await readText(path)), write),
    )
  }),
  ...['urls', 'subdomains', 'assets', 'vulns', 'ips', 'links', 'content', 'archive'].map(counter),
  ...SEVERITY_WORDS.map(severityCounter),
  fn('db_select_assets(workspace, format)', 'text', 'The assets, as markdown or jsonl.', async (args, at) =>
    formatted(await service(at).assets(workspaceArg(args, 0, at), {}), textArg(args, 1, 'markdown')),
  ),
  fn(
    'db_select_assets_filtered(workspace, status, type, format)',
    'text',
    'The assets with this HTTP status and type.',
    async (args, at) =>
      formatted(
        await service(at).assets(
          workspaceArg(args, 0, at),
          filterOf({ status_code: textArg(args, 1), asset_type: textArg(args, 2) }),
        ),
        textArg(args, 3, 'markdown'),
      ),
  ),
  fn(
    'db_select_vulnerabilities(workspace, format)',
    'text',
    'The findings, as markdown or jsonl.',
    async (args, at) =>
      formatted(
        await service(at).vulnerabilities(workspaceArg(args, 0, at), {}),
        textArg(args, 1, 'markdown'),
      ),
  ),
  fn(
    'db_select_vulnerabilities_filtered(workspace, severity, asset, format)',
    'text',
    'The findings of these severities on this asset.',
    async (args, at) =>
      formatted(
        await service(at).vulnerabilities(
          workspaceArg(args, 0, at),
          filterOf({ severity: textArg(args, 1), asset_value: textArg(args, 2) }),
        ),
        textArg(args, 3, 'markdown'),
      ),
  ),
  noSql('db_select(sql, format)'),
  noSql('db_select_to_file(sql, dest)'),
  noSql('db_select_to_jsonl(sql, fields, dest)'),
  noSql('db_update(table, key, field, value)'),
  selectTotal('db_select_total_assets', 'assets', {}),
  selectTotal('db_select_total_subdomains', 'assets', { asset_type: 'subdomain' }),
  selectTotal('db_select_total_urls', 'assets', { asset_type: 'url' }),
  selectTotal('db_select_total_vulns', 'vulnerabilities', {}),
  ...SEVERITY_WORDS.map((severity) =>
    selectTotal(`db_select_vuln_${severity}`, 'vulnerabilities', { severity }),
  ),
  difference('asset', false),
  difference('asset', true),
  difference('vuln', false),
  difference('vuln', true),
  fn('run_status(workspace, format)', 'text', 'The runs of the workspace.', async (args, at) =>
    formatted(
      await service(at).runStatus({ workspace: workspaceArg(args, 0, at) }),
      textArg(args, 1, 'markdown'),
    ),
  ),
  fn('run_status_by_uuid(uuid, format)', 'text', 'One run.', async (args, at) =>
    formatted(await service(at).runStatus({ runUuid: textArg(args, 0) }), textArg(args, 1, 'markdown')),
  ),
  fn(
    'runtime_export()',
    'text',
    'Writes what is known of the run to runtime-export.json; answers its path.',
    async (_args, at) => {
      const path = `${at.folders.output}/runtime-export.json`
      await writeText(
        path,
        JSON.stringify(
          {
            run_uuid: at.runUuid,
            target: at.target,
            workspace: at.workspace,
            exported_at: at.ports.now().toISOString(),
          },
          null,
          2,
        ),
        at,
      )
      return path
    },
  ),
  fn(
    'db_reset_event_logs(workspace?, topic?)',
    'never',
    'Event logs are kept by the server and not reset by workflows.',
    () => {
      throw new Error('event logs are kept by the server and not reset by workflows')
    },
  ),
]

const orTell = needing(
  (services) => services.database !== undefined,
  MISSING,
  (message) => `error: ${message}`,
)

export const DATABASE_FUNCTIONS: FunctionGroup = {
  title: 'Artifacts and findings (findings need a server)',
  functions: ALL.map((definition) => (LOCAL.has(definition.name) ? definition : orTell(definition))),
}
