import type { Json } from '@scanfarm/language'
import { SEVERITY_WORDS } from './counters.ts'
import { databaseOf, workspaceArg } from './database-of.ts'
import { local, refused, type FunctionDefinition } from '../define.ts'
import { writeLines } from '../files/files.ts'
import { cellText } from '../text/jsonl.ts'
import type { Row } from './asset-rows.ts'

const formatted = (rows: readonly Row[], format: string): string => {
  if (format === 'jsonl' || format === 'json') return rows.map((row) => JSON.stringify(row)).join('\n')
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cell = (value: Json | undefined) => cellText(value).replaceAll(/[|\n]/g, ' ')
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => cell(row[column])))),
  ].join('\n')
}

const filterOf = (pairs: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== ''))

type Kind = 'assets' | 'vulnerabilities'

/** The arguments are the workspace, values of these fields and the format. */
const select = (
  head: string,
  description: string,
  kind: Kind,
  fields: readonly string[] = [],
): FunctionDefinition =>
  local(`${head}: text`, description, async (at) => {
    const filter = Object.fromEntries(fields.map((field, index) => [field, at.text(index + 1)]))
    const rows = await databaseOf(at)[kind](workspaceArg(at, 0), filterOf(filter))
    return formatted(rows, at.text(fields.length + 1, 'markdown'))
  })

const SELECTED = {
  assets: 'The number of records of this kind in the workspace.',
  vulnerabilities: 'The number of open findings of this kind in the workspace.',
}

const selectTotal = (name: string, kind: Kind, filter: Record<string, string>): FunctionDefinition =>
  local(`${name}(): number`, SELECTED[kind], async (at) => {
    const found = await databaseOf(at)[kind](at.workspace, filter)
    return kind === 'assets' ? found.length : found.filter(({ state }) => state !== 'gone').length
  })

/** SQL could read data of other runs and of the server, which no filter on its text can prevent. */
const noSql = (head: string): FunctionDefinition =>
  refused(
    head,
    'SQL of workflows is not supported',
    'use db_select_assets_filtered or db_select_vulnerabilities_filtered, and jq on their JSONL',
  )

const difference = (kind: 'asset' | 'vuln', toFile: boolean): FunctionDefinition =>
  local(
    toFile ? `db_${kind}_diff_to_file(workspace, dest): bool` : `db_${kind}_diff(workspace): text`,
    'The records that were first found by this run, as JSONL.',
    async (at) => {
      const records = kind === 'asset' ? 'assets' : 'vulnerabilities'
      const rows = await databaseOf(at)[records](workspaceArg(at, 0), { first_seen_run: at.runUuid })
      if (!toFile) return formatted(rows, 'jsonl')
      await writeLines(
        at.path(1),
        rows.map((row) => JSON.stringify(row)),
        at,
      )
      return true
    },
  )

/** Queries of the database. */
export const SELECT_FUNCTIONS: readonly FunctionDefinition[] = [
  select('db_select_assets(workspace, format)', 'The assets, as markdown or jsonl.', 'assets'),
  select(
    'db_select_assets_filtered(workspace, status, type, format)',
    'The assets with this HTTP status and type.',
    'assets',
    ['status_code', 'asset_type'],
  ),
  select(
    'db_select_vulnerabilities(workspace, format)',
    'The findings, as markdown or jsonl.',
    'vulnerabilities',
  ),
  select(
    'db_select_vulnerabilities_filtered(workspace, severity, asset, format)',
    'The findings of these severities on this asset.',
    'vulnerabilities',
    ['severity', 'asset_value'],
  ),
  noSql('db_select(sql, format)'),
  noSql('db_select_to_file(sql, dest)'),
  noSql('db_select_to_jsonl(sql, fields, dest)'),
  refused(
    'db_update(table, key, field, value)',
    'tables are not changed by workflows',
    'use db_import_asset or db_import_vuln, which update an existing record',
  ),
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
  local('run_status(workspace, format): text', 'The runs of the workspace.', async (at) =>
    formatted(await databaseOf(at).runStatus({ workspace: workspaceArg(at, 0) }), at.text(1, 'markdown')),
  ),
  local('run_status_by_uuid(uuid, format): text', 'One run.', async (at) =>
    formatted(await databaseOf(at).runStatus({ runUuid: at.text(0) }), at.text(1, 'markdown')),
  ),
]
