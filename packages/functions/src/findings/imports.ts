import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs/promises'
import { addImports, NOTHING_IMPORTED, type NotTested } from '@scanfarm/contracts'
import { IMPORT_FORMATS, type ImportFormat } from '@scanfarm/findings'
import type { Json } from '@scanfarm/language'
import { databaseOf, workspaceArg } from './database-of.ts'
import {
  local,
  isObject,
  NoResult,
  type FunctionContext,
  type FunctionDefinition,
  type Run,
  type Call,
} from '../define.ts'
import { isThere } from '../files/files.ts'
import { customAsset, dnsAsset, httpAsset, portAsset, type Row } from './asset-rows.ts'
import { parseObject } from '../text/jsonl.ts'
import { Distinct, linesOf } from '../files/lines.ts'
import type { FileScope } from '../paths/allowed.ts'
import { openFile } from '../paths/run-folder.ts'
import { portsOfLocation } from '../network/port-list.ts'
import { MAX_HOSTS, reachedIn } from '../network/reached.ts'
import type { ImportCounts, ImportedBy } from '../services.ts'

/** Number of rows per database call. */
const BATCH = 500

const answer = ({ problems = [], ...counts }: ImportCounts): Json => ({
  ...counts,
  total: counts.new + counts.known + counts.merged + counts.errors,
  problems: problems.map((problem) => ({ ...problem })),
})

type Kind = 'assets' | 'vulnerabilities'
type Write = (workspace: string, rows: readonly Row[]) => Promise<ImportCounts>

const inBatches = async (
  workspace: string,
  rows: AsyncIterable<Row> | Iterable<Row>,
  write: Write,
): Promise<Json> => {
  let counts: ImportCounts = NOTHING_IMPORTED
  let batch: Row[] = []
  const flush = async () => {
    if (batch.length > 0) counts = addImports(counts, await write(workspace, batch))
    batch = []
  }
  for await (const row of rows) {
    batch.push(row)
    if (batch.length >= BATCH) await flush()
  }
  // Empty imports are reported too, so that missing records can be marked as gone.
  if (batch.length > 0 || counts === NOTHING_IMPORTED)
    counts = addImports(counts, await write(workspace, batch))
  return answer(counts)
}

/** Objects of a JSONL file; a line of plain text becomes an object with a `value`. */
const rowsOfFile = async function* (
  path: string,
  scope: FileScope,
  change: (row: Row) => Row | undefined,
): AsyncGenerator<Row> {
  for await (const line of linesOf(path, scope)) {
    if (line.trim() === '') continue
    const row = change(parseObject(line) ?? { value: line.trim(), host: line.trim() })
    if (row !== undefined) yield row
  }
}

const writeTo = (kind: Kind, at: FunctionContext, coverage: Coverage = {}): Write => {
  const database = databaseOf(at)
  let by: ImportedBy = { step: at.stepPath, importId: randomUUID(), ...coverage }
  return async (workspace, rows) => {
    const counts =
      kind === 'assets'
        ? await database.importAssets(workspace, rows, by)
        : await database.importVulnerabilities(workspace, rows, by)
    // Only the first batch has the hosts.
    by = { ...by, reached: coverage.reached && [], untested: undefined }
    return counts
  }
}

type Coverage = Pick<ImportedBy, 'reached' | 'untested'>

/** A line for a place that was not tested, `! PLACE REASON`, or that did not answer, `? PLACE REASON`. */
const UNTESTED = /^([!?])\s*(\S+)\s*(.*)$/

const notTested = (line: string): NotTested[] => {
  const [, sign, place, reason = ''] = UNTESTED.exec(line) ?? []
  if (place === undefined) return []
  return [{ ...portsOfLocation(place), reason, ...(sign === '?' && { silent: true }) }]
}

/** What a scan reached and did not test: from the file of the argument, otherwise as noted by a function of nmap. */
const coverageOf = async (at: Call, index: number, path: string): Promise<Coverage> => {
  if (at.text(index) === '') return { reached: reachedIn(at, path) }
  const hosts = new Distinct()
  let count = 0
  for await (const line of linesOf(at.path(index), at)) {
    if (line.trim() === '' || !hosts.add(line.trim())) continue
    if (++count > MAX_HOSTS) throw new Error(`more than ${MAX_HOSTS} hosts: import what was found in parts`)
  }
  const lines = hosts.sorted()
  const untested = lines.flatMap(notTested)
  const reached = lines.filter((line) => !/^[!?]/.test(line))
  return untested.length === 0 ? { reached } : { reached, untested }
}

/** If the file does not exist, the scan has no result, so that not even an empty import is made. */
const whereWritten = async (path: string, scope: FileScope, work: () => Promise<Json>): Promise<Json> =>
  (await isThere(path, scope)) ? await work() : answer(NOTHING_IMPORTED)

/**
 * Imports the rows of a file. `path` and `reached`: the positions of the arguments for the file and for the reached hosts.
 * `change` converts a row to a record, or returns undefined for an invalid row.
 */
const importFile =
  (
    kind: Kind,
    path: number,
    reached: number,
    change: (row: Row, at: Call) => Row | undefined = (row) => row,
  ): Run =>
  async (at) => {
    databaseOf(at)
    const file = at.path(path)
    const write = writeTo(kind, at, await coverageOf(at, reached, file))
    return await whereWritten(file, at, () =>
      inBatches(
        workspaceArg(at, 0),
        rowsOfFile(file, at, (row) => change(row, at)),
        write,
      ),
    )
  }

const formatArg = (at: Call, index: number): ImportFormat | undefined => {
  const name = at.text(index)
  const format = IMPORT_FORMATS.find((one) => one === name)
  if (format === undefined && name !== '' && name !== 'guess')
    throw new Error(
      `the format ${JSON.stringify(name)} is unknown; use one of ${IMPORT_FORMATS.join(', ')}, guess`,
    )
  return format
}

/** Imports a report whose format is the argument before its path, unless it is fixed. */
const importReport =
  (fixed: ImportFormat | undefined, index: number): Run =>
  async (at) => {
    const database = databaseOf(at)
    const workspace = workspaceArg(at, 0)
    const format = fixed ?? formatArg(at, index - 1)
    const path = at.path(index)
    const coverage = await coverageOf(at, index + 1, path)
    const by = { step: at.stepPath, importId: randomUUID(), ...coverage, root: at.text(index + 2) }
    return await whereWritten(path, at, async () => {
      await using file = await openFile(path, at, constants.O_RDONLY)
      const { size } = await file.stat()
      // Tools that find nothing write an empty file or a report without results.
      const report = size === 0 ? undefined : file.createReadStream()
      return answer(await database.importReport(workspace, format, report, by))
    })
  }

const objectArg = (at: Call, index: number): Row => {
  const value = at.args[index]
  const parsed = typeof value === 'string' ? parseObject(value) : value
  if (isObject(parsed)) return parsed
  throw new NoResult(`argument ${index + 1} must be a JSON object`)
}

const importOne =
  (kind: Kind, change: (at: Call) => Row): Run =>
  async (at) => {
    const { errors } = await writeTo(kind, at)(workspaceArg(at, 0), [change(at)])
    if (errors > 0) throw new NoResult('the database refused the record; its log has the reason')
  }

const importAsset = importOne('assets', (at) => customAsset(objectArg(at, 1), 'other', 'workflow'))

/** Imports an asset by the arguments for its value and its type. */
const importValue = (value: number, type: number, otherwise?: string): Run =>
  importOne('assets', (at) => ({
    asset_value: at.text(value),
    asset_type: at.text(type, otherwise),
    source: 'workflow',
  }))

/** Imports of assets and findings. Findings are passed on unchanged: the server knows their formats. */
export const IMPORT_FUNCTIONS: readonly FunctionDefinition[] = [
  local(
    'db_import_asset(workspace, json): bool or text',
    'Adds or updates an asset; a text `error: …` if the row is invalid.',
    importAsset,
  ),
  local(
    'db_quick_import_asset(workspace, value, type?): bool or text',
    'Adds or updates an asset by its value.',
    importValue(1, 2, 'subdomain'),
  ),
  local('db_raw_insert_asset(workspace, json): bool or text', 'The same as db_import_asset.', importAsset),
  local(
    'db_partial_import_asset(workspace, type, value): bool or text',
    'Adds or updates an asset by its value.',
    importValue(2, 1),
  ),
  local(
    'db_partial_import_asset_file(workspace, type, path, reached?): object',
    'Adds or updates an asset for each line.',
    importFile('assets', 2, 3, (row, at) => customAsset(row, at.text(1), 'workflow')),
  ),
  local(
    'db_import_asset_from_file(workspace, path, reached?): object',
    'Assets from the JSONL of httpx; returns {new, updated, unchanged, known, merged, errors, total, problems}.',
    importFile('assets', 1, 2, httpAsset),
  ),
  local(
    'db_import_dns_asset(workspace, path, reached?): object',
    'Assets from the JSONL of dnsx, or from host names.',
    importFile('assets', 1, 2, dnsAsset),
  ),
  local(
    'db_import_port_assets(workspace, path, source?, reached?): object',
    'Open ports from the JSONL of naabu, nmap_ports_to_jsonl or, as one asset for each host, nmap_to_jsonl. Rows of ports that are not open are left out.',
    importFile('assets', 1, 3, (row, at) => portAsset(row, at.text(2, 'nmap'))),
  ),
  local(
    'db_import_custom_asset(workspace, path, type?, source?, reached?): object',
    'Assets from any JSONL or list.',
    importFile('assets', 1, 4, (row, at) => customAsset(row, at.text(2, 'other'), at.text(3, 'workflow'))),
  ),
  local(
    'db_import_vuln(workspace, json): bool or text',
    'Adds or updates a finding in the format of nuclei.',
    importOne('vulnerabilities', (at) => objectArg(at, 1)),
  ),
  local(
    'db_import_vuln_from_file(workspace, path, reached?): object',
    'Findings from the JSONL of nuclei.',
    importFile('vulnerabilities', 1, 2),
  ),
  local(
    'db_import_vigolium(workspace, path, source?, reached?): object',
    'Findings from the JSONL of other scanners.',
    importFile('vulnerabilities', 1, 3),
  ),
  local(
    'db_import_sarif(workspace, path, reached?, root?): object',
    'Findings from a SARIF file. `root` is the folder that was scanned: absolute paths in it become relative.',
    importReport('sarif', 1),
  ),
  local(
    'db_import_report(workspace, format, path, reached?, root?): object',
    'Assets and findings from the report of a scanner. The format is one that imports read (findings.md), or `guess`. `root` is as for db_import_sarif.',
    importReport(undefined, 2),
  ),
]
