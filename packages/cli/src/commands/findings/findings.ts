import { basename } from 'node:path'
import {
  plural,
  type Asset,
  type Enrichment,
  type ImportProblem,
  type ImportSummary,
  type Vulnerability,
} from '@scanfarm/contracts'
import { Command } from 'commander'
import type { QueryOf } from '../../client/api.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { readBlob, printBody, saveBody } from '../../client/files.ts'
import { cut, printFields, printJson, printTable, shortTime, type Column } from '../../client/table.ts'
import { share } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { rulesCommand, showCommand, statusOf, triageCommand } from './finding-decisions.ts'
import { paged, printPage, type PageOptions } from '../lists.ts'

interface FilterOptions extends ClientOptions {
  readonly workspace?: string
  readonly severity?: string
  readonly confidence?: string
  readonly asset?: string
  readonly state?: string
  readonly seen?: string
  readonly verdict?: string
  readonly assignee?: string
  readonly back?: boolean
  readonly kev?: boolean
  readonly minEpss?: number
  readonly run?: string
  readonly since?: string
}

const filtered = (command: Command): Command =>
  command
    .option('--workspace <names>', 'of these workspaces, separated by commas')
    .option('--severity <words>', 'critical, high, medium, low or info, separated by commas')
    .option('--confidence <words>', 'Certain, Firm, Tentative, Manual Review Required')
    .option('--asset <text>', 'part of the affected asset')
    .option('--state <word>', 'open or gone')
    .option('--seen <words>', 'open, gone, not_tested or unreachable, separated by commas')
    .option('--verdict <words>', 'none, confirmed, false_positive, accepted or fixed_claimed')
    .option('--assignee <name>', 'who takes care of it')
    .option('--back', 'seen again after a fix was claimed')
    .option('--kev', 'in the catalog of exploited vulnerabilities of CISA')
    .option('--min-epss <share>', 'at least this probability of exploitation, from 0 to 1', share)
    .option('--run <uuid>', 'last seen by this run')
    .option('--since <job>', 'found, or found again, since the end of this job; also a time')

const queryOf = ({
  workspace,
  severity,
  confidence,
  asset,
  state,
  seen,
  verdict,
  assignee,
  back,
  kev,
  minEpss,
  run,
  since,
}: FilterOptions) => ({
  workspace,
  severity,
  confidence,
  asset_value: asset,
  state,
  seen,
  verdict,
  assignee,
  back,
  kev,
  min_epss: minEpss,
  run_uuid: run,
  new_since: since,
})

const COLUMNS: readonly Column<Vulnerability>[] = [
  { title: 'ID', value: (finding) => finding.id },
  { title: 'PRIO', value: (finding) => finding.priority.score },
  { title: 'SEVERITY', value: (finding) => finding.severity, coloured: true },
  { title: 'STATUS', value: statusOf, coloured: true },
  { title: 'WHAT', value: (finding) => cut(finding.vuln_title || finding.vuln_info, 32) },
  { title: 'ASSET', value: (finding) => finding.asset_value },
]

type Sort = QueryOf<'/vulnerabilities'>['sort']

interface AllOption {
  readonly all?: boolean
}

/** A list shows what is open, unless it is asked for something else. */
const stateOf = ({ all, state, seen, verdict }: AllOption & FilterOptions): string | undefined =>
  state ?? (all === true || seen !== undefined || verdict !== undefined ? undefined : 'open')

const listCommand = (terminal: Terminal): Command =>
  paged(filtered(clientCommand('list', 'List open vulnerabilities, the most severe first.')))
    .option('--all', 'also those that are gone or decided')
    .option(
      '--sort <field>',
      'priority, severity, epss, title, asset, workspace or last_seen; with - in reverse',
      'severity',
    )
    .action(async (options: AllOption & FilterOptions & PageOptions & { sort: Sort }) => {
      const { limit, offset, sort } = options
      const query = { ...queryOf(options), state: stateOf(options), limit, offset, sort }
      const page = await connect(terminal, options).call(({ GET }) =>
        GET('/vulnerabilities', { params: { query } }),
      )
      printPage(terminal, options, page, COLUMNS)
      if (page.data.length === 0 && query.state === 'open' && !wantsJson(options))
        printLine(terminal, 'no open findings; --all lists those that are gone or decided, too')
    })

interface ImportOptions extends ClientOptions {
  readonly workspace: string
  readonly format?: string
  readonly root?: string
}

interface ImportAnswer {
  readonly format: string
  readonly vulnerabilities: ImportSummary
  readonly assets: Omit<ImportSummary, 'errors'>
  readonly problems: readonly ImportProblem[]
}

/** The counts that add up to the number of results. */
const words = ({ errors, ...counts }: Omit<ImportSummary, 'errors'> & { errors?: number }): string =>
  [
    `${counts.new} new`,
    `${counts.known} known (${counts.updated} updated)`,
    `${counts.merged} merged`,
    ...(errors === undefined ? [] : [plural(errors, 'error')]),
  ].join(', ')

const importCommand = (terminal: Terminal): Command =>
  clientCommand('import', 'Import the findings of a scanner; known ones are updated.')
    .argument('<file>', 'output file of the scanner')
    .requiredOption('--workspace <name>', 'workspace of the findings')
    .option(
      '--format <format>',
      'format of the file, like sarif, nuclei or nmap (docs/findings.md lists all); default: recognised by the file',
    )
    .option('--root <folder>', 'folder that was scanned, for absolute paths; default: as the report names it')
    .action(async (file: string, options: ImportOptions) => {
      const { workspace, format, root } = options
      const query = new URLSearchParams({
        workspace,
        ...(format !== undefined && { format }),
        ...(root !== undefined && { root }),
      })
      const answer = await connect(terminal, options).upload<ImportAnswer>(
        `/vulnerabilities/import?${query.toString()}`,
        basename(file),
        await readBlob(file),
      )
      if (wantsJson(options)) return printJson(terminal, answer)
      printFields(terminal, {
        format: answer.format,
        vulnerabilities: words(answer.vulnerabilities),
        assets: words(answer.assets),
      })
      for (const { line, reason } of answer.problems)
        printLine(terminal, line === undefined ? `problem: ${reason}` : `problem in line ${line}: ${reason}`)
    })

interface Loaded {
  readonly kind: string
  readonly cves: number
  readonly changed: number
}

const ENRICHMENTS: readonly Column<Enrichment>[] = [
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'PUBLISHED', value: ({ published }) => published },
  { title: 'CVES', value: ({ cves }) => cves },
  { title: 'LOADED', value: ({ loaded_at }) => loaded_at },
  { title: 'BY', value: ({ loaded_by }) => loaded_by },
]

const enrichCommand = (terminal: Terminal): Command =>
  clientCommand(
    'enrich',
    'Load files about CVEs: the CSV of EPSS, the JSON of CISA KEV; or list those loaded.',
  )
    .argument('[files...]', 'files as they are published; the CSV also in gzip')
    .action(async (files: string[], options: ClientOptions) => {
      const connection = connect(terminal, options)
      if (files.length === 0) {
        const { data } = await connection.call(({ GET }) => GET('/enrichments'))
        if (wantsJson(options)) return printJson(terminal, data)
        return printTable(terminal, ENRICHMENTS, data)
      }
      for (const file of files) {
        const answer = await connection.upload<Loaded>('/enrichments', basename(file), await readBlob(file))
        if (wantsJson(options)) printJson(terminal, answer)
        else
          printLine(
            terminal,
            `${file}: ${answer.kind}, ${plural(answer.cves, 'CVE')}, ${plural(answer.changed, 'finding')} changed`,
          )
      }
    })

interface ExportOptions extends FilterOptions {
  readonly format: QueryOf<'/vulnerabilities/export'>['format']
  readonly to?: string
}

const exportCommand = (terminal: Terminal): Command =>
  filtered(clientCommand('export', 'Write vulnerabilities to a file, or to standard output.'))
    .requiredOption('--format <format>', 'sarif, csv, jsonl, defectdojo or openvex')
    .option('--to <file>', 'file to write')
    .action(async (options: ExportOptions) => {
      const query = { format: options.format, ...queryOf(options) }
      const { response } = await connect(terminal, options).with(({ GET }) =>
        GET('/vulnerabilities/export', { params: { query }, parseAs: 'stream' }),
      )
      if (options.to === undefined) return await printBody(terminal, response)
      await saveBody(response, options.to)
      printLine(terminal, options.to)
    })

export const findingsCommand = (terminal: Terminal): Command =>
  new Command('findings')
    .description('List, decide about, import and export vulnerabilities.')
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(triageCommand(terminal))
    .addCommand(rulesCommand(terminal))
    .addCommand(importCommand(terminal))
    .addCommand(enrichCommand(terminal))
    .addCommand(exportCommand(terminal))

interface AssetsOptions extends ClientOptions, PageOptions, AllOption {
  readonly workspace?: string
  readonly search?: string
  readonly type?: string
  readonly state?: string
}

const ASSET_COLUMNS: readonly Column<Asset>[] = [
  { title: 'ID', value: (asset) => asset.id },
  { title: 'TYPE', value: (asset) => asset.asset_type },
  { title: 'STATE', value: (asset) => asset.state },
  { title: 'STATUS', value: (asset) => asset.status_code || '' },
  { title: 'LAST', value: (asset) => shortTime(asset.last_seen) },
  { title: 'VALUE', value: (asset) => cut(asset.url || asset.asset_value, 60) },
  { title: 'TITLE', value: (asset) => cut(asset.title ?? '', 32) },
  { title: 'WORKSPACE', value: (asset) => asset.workspace },
]

const listAssetsCommand = (terminal: Terminal): Command =>
  paged(clientCommand('list', 'List open assets, newest first.'))
    .option('--all', 'also those that are gone')
    .option('--workspace <names>', 'of these workspaces, separated by commas')
    .option('--search <text>', 'part of value, URL or title')
    .option('--type <types>', 'types like http, port or ip, separated by commas')
    .option('--state <word>', 'open or gone')
    .action(async (options: AssetsOptions) => {
      const { workspace, search, type, limit, offset } = options
      const query = { workspace, search, asset_type: type, state: stateOf(options), limit, offset }
      const page = await connect(terminal, options).call(({ GET }) => GET('/assets', { params: { query } }))
      printPage(terminal, options, page, ASSET_COLUMNS)
    })

export const assetsCommand = (terminal: Terminal): Command =>
  new Command('assets').description('List assets.').addCommand(listAssetsCommand(terminal))
