import { constants } from 'node:fs/promises'
import type { Json } from '../model.ts'
import { databaseOf, workspaceArg } from './database-of.ts'
import { fn, isObject, NoResult, textArg, type FunctionContext, type FunctionDefinition } from './define.ts'
import { isThere, pathArg } from './files.ts'
import { customAsset, dnsAsset, httpAsset, portAsset, type Row } from './asset-rows.ts'
import { parseObject } from './jsonl.ts'
import { linesOf } from './lines.ts'
import type { RunPlace } from './allowed.ts'
import { openFile } from './run-folder.ts'
import type { ImportCounts } from './services.ts'

/** Rows that go to the database at once. */
const BATCH = 500

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
const rowsOfFile = async function* (
  path: string,
  place: RunPlace,
  change: (row: Row) => Row,
): AsyncGenerator<Row> {
  for await (const line of linesOf(path, place)) {
    if (line.trim() === '') continue
    yield change(parseObject(line) ?? { value: line.trim(), host: line.trim() })
  }
}

const writeTo = (kind: 'assets' | 'vulnerabilities', at: FunctionContext): Write => {
  const database = databaseOf(at)
  return async (workspace, rows) =>
    kind === 'assets'
      ? await database.importAssets(workspace, rows, at.stepPath)
      : await database.importVulnerabilities(workspace, rows, at.stepPath)
}

/** A file that was never written says nothing about what is there: then nothing is imported, not even nothing. */
const whereWritten = async (
  path: string,
  place: RunPlace,
  work: (path: string) => Promise<Json>,
): Promise<Json> => ((await isThere(path, place)) ? await work(path) : answer(NONE))

const importFile =
  (kind: 'assets' | 'vulnerabilities', change: (row: Row, args: readonly Json[]) => Row) =>
  async (args: readonly Json[], at: FunctionContext): Promise<Json> => {
    const write = writeTo(kind, at)
    return await whereWritten(pathArg(args, 1, at), at, (path) =>
      inBatches(
        workspaceArg(args, 0, at),
        rowsOfFile(path, at, (row) => change(row, args)),
        write,
      ),
    )
  }

const objectArg = (args: readonly Json[], index: number): Row => {
  const value = args[index]
  const parsed = typeof value === 'string' ? parseObject(value) : value
  if (isObject(parsed)) return parsed
  throw new NoResult(`argument ${index + 1} must be a JSON object`)
}

const importOne =
  (kind: 'assets' | 'vulnerabilities', change: (args: readonly Json[]) => Row) =>
  async (args: readonly Json[], at: FunctionContext): Promise<Json> => {
    const { errors } = await writeTo(kind, at)(workspaceArg(args, 0, at), [change(args)])
    if (errors > 0) throw new NoResult('the database refused the record; its log has the reason')
    return true
  }

/** Assets and findings out of what tools write. Findings stay as they are: the database's side knows their formats. */
export const IMPORT_FUNCTIONS: readonly FunctionDefinition[] = [
  fn(
    'db_import_asset(workspace, json)',
    'bool or text',
    'Adds or updates an asset; a text `error: …` where it is none.',
    importOne('assets', (args) => customAsset(objectArg(args, 1), 'other', 'workflow')),
  ),
  fn(
    'db_quick_import_asset(workspace, value, type?)',
    'bool or text',
    'Adds or updates an asset by its value.',
    importOne('assets', (args) => ({
      asset_value: textArg(args, 1),
      asset_type: textArg(args, 2, 'subdomain'),
      source: 'workflow',
    })),
  ),
  fn(
    'db_raw_insert_asset(workspace, json)',
    'bool or text',
    'The same as db_import_asset.',
    importOne('assets', (args) => customAsset(objectArg(args, 1), 'other', 'workflow')),
  ),
  fn(
    'db_partial_import_asset(workspace, type, value)',
    'bool or text',
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
      return await whereWritten(pathArg(args, 2, at), at, (path) => {
        const rows = rowsOfFile(path, at, (row) => customAsset(row, type, 'workflow'))
        return inBatches(workspaceArg(args, 0, at), rows, write)
      })
    },
  ),
  fn(
    'db_import_asset_from_file(workspace, path)',
    'object',
    'Assets from the JSONL of httpx; answers {new, updated, unchanged, errors, total}.',
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
    'Open ports from the JSONL of naabu, nmap_ports_to_jsonl or, as one asset for each host, nmap_to_jsonl.',
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
    'bool or text',
    'Adds or updates a finding in the format of nuclei.',
    importOne('vulnerabilities', (args) => objectArg(args, 1)),
  ),
  fn(
    'db_import_vuln_from_file(workspace, path)',
    'object',
    'Findings from the JSONL of nuclei.',
    importFile('vulnerabilities', (row) => row),
  ),
  fn(
    'db_import_vigolium(workspace, path, source?)',
    'object',
    'Findings from the JSONL of other scanners.',
    importFile('vulnerabilities', (row) => row),
  ),
  fn('db_import_sarif(workspace, path)', 'object', 'Findings from a SARIF file.', async (args, at) => {
    const database = databaseOf(at)
    const workspace = workspaceArg(args, 0, at)
    return await whereWritten(pathArg(args, 1, at), at, async (path) => {
      await using file = await openFile(path, at, constants.O_RDONLY)
      const { size } = await file.stat()
      // Tools that find nothing leave an empty file as often as a report without results.
      if (size === 0) return answer(await database.importVulnerabilities(workspace, [], at.stepPath))
      return answer(await database.importReport(workspace, 'sarif', file.createReadStream(), at.stepPath))
    })
  }),
]
