import { basename } from 'node:path'
import {
  plural,
  type Asset,
  type Enrichment,
  type ImportProblem,
  type ImportSummary,
  type Vulnerability,
} from '@scanfarm/contracts'
import type { Command } from 'commander'
import type { QueryOf } from '../../client/api.ts'
import {
  callingCommand,
  clientCommand,
  connect,
  printAnswer,
  type ClientOptions,
} from '../../client/connect.ts'
import { addFields, fieldsOf, type CommandOptions, type FieldsOf } from '../../client/fields.ts'
import { readBlob, writeBody } from '../../client/files.ts'
import { inColumns, PAGE } from '../../client/page.ts'
import { cut, printFields, printTable, shortTime, type Column } from '../../client/table.ts'
import { verb } from '../../client/verb.ts'
import { noun } from '../../noun.ts'
import { addFile, share } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { rulesCommand, showCommand, statusOf, triageCommand } from './finding-decisions.ts'

const FILTERS = {
  workspace: ['--workspace <names>', 'of these workspaces, separated by commas'],
  severity: ['--severity <words>', 'critical, high, medium, low or info, separated by commas'],
  confidence: ['--confidence <words>', 'Certain, Firm, Tentative, Manual Review Required'],
  search: ['--search <text>', 'part of the title, the identifier or the asset'],
  asset_value: ['--asset <text>', 'part of the affected asset'],
  host: ['--host <name>', 'at this host, by its name or address'],
  check: ['--check <text>', 'identifier of the check'],
  tag: ['--tag <tag>', 'with this tag'],
  state: ['--state <word>', 'open or gone'],
  seen: ['--seen <words>', 'open, gone, not_tested or unreachable, separated by commas'],
  verdict: ['--verdict <words>', 'none, confirmed, false_positive, accepted or fixed_claimed'],
  assignee: ['--assignee <name>', 'who takes care of it'],
  back: ['--back', 'seen again after a fix was claimed'],
  kev: ['--kev', 'in the catalog of exploited vulnerabilities of CISA'],
  min_epss: ['--min-epss <share>', 'at least this probability of exploitation, from 0 to 1', share],
  run_uuid: ['--run <uuid>', 'last seen by this run'],
  new_since: ['--since <job>', 'found, or found again, since the end of this job; also a time'],
} as const satisfies FieldsOf<QueryOf<'/vulnerabilities'>>

type Query = QueryOf<'/vulnerabilities'>

const COLUMNS: readonly Column<Vulnerability>[] = [
  { title: 'ID', value: (finding) => finding.id },
  { title: 'PRIO', value: (finding) => finding.priority.score },
  { title: 'SEVERITY', value: (finding) => finding.severity, coloured: true },
  { title: 'STATUS', value: statusOf, coloured: true },
  { title: 'WHAT', value: (finding) => cut(finding.vuln_title || finding.vuln_info, 32) },
  { title: 'ASSET', value: (finding) => finding.asset_value },
]

/** `--all` lists also what the server leaves out by default. */
type WithAll<Q> = Q & { readonly all?: true }

/** A list shows what is open, unless it is asked for something else. */
const openUnless = <Q extends Pick<Query, 'state' | 'seen' | 'verdict'>>({ all, ...query }: WithAll<Q>) => {
  const { state, seen, verdict } = query
  const isAsked = all === true || seen !== undefined || verdict !== undefined
  return { ...query, state: state ?? (isAsked ? undefined : ('open' as const)) }
}

const listCommand = verb('list', 'List open vulnerabilities, the most severe first.', {
  fields: {
    ...FILTERS,
    ...PAGE,
    sort: [
      '--sort <field>',
      'priority, severity, epss, title, asset, workspace or last_seen; with - in reverse; default severity',
    ],
    all: ['--all', 'also those that are gone or decided'],
  },
  call: ({ GET }, given: WithAll<Query>) =>
    GET('/vulnerabilities', { params: { query: { sort: 'severity', ...openUnless(given) } } }),
  print(terminal, page, given) {
    inColumns(COLUMNS)(terminal, page)
    if (page.data.length === 0 && openUnless(given).state === 'open')
      printLine(terminal, 'no open findings; --all lists those that are gone or decided, too')
  },
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
      printAnswer(terminal, options, answer, () => {
        printFields(terminal, {
          format: answer.format,
          vulnerabilities: words(answer.vulnerabilities),
          assets: words(answer.assets),
        })
        for (const { line, reason } of answer.problems)
          printLine(terminal, `problem${line === undefined ? '' : ` in line ${line}`}: ${reason}`)
      })
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
        return printAnswer(terminal, options, data, () => printTable(terminal, ENRICHMENTS, data))
      }
      for (const file of files) {
        const answer = await connection.upload<Loaded>('/enrichments', basename(file), await readBlob(file))
        printAnswer(terminal, options, answer, ({ kind, cves, changed }) =>
          printLine(
            terminal,
            `${file}: ${kind}, ${plural(cves, 'CVE')}, ${plural(changed, 'finding')} changed`,
          ),
        )
      }
    })

type ExportQuery = QueryOf<'/vulnerabilities/export'>
type ExportOptions = ClientOptions & CommandOptions & Pick<ExportQuery, 'format'> & { readonly to?: string }

const exportCommand = (terminal: Terminal): Command =>
  addFile(
    addFields(callingCommand('export', 'Write vulnerabilities to a file, or to standard output.'), FILTERS),
  )
    .requiredOption('--format <format>', 'sarif, csv, jsonl, defectdojo or openvex')
    .action(async (options: ExportOptions) => {
      const query = { format: options.format, ...fieldsOf<Omit<Query, 'sort'>>(FILTERS, options) }
      const { response } = await connect(terminal, options).with(({ GET }) =>
        GET('/vulnerabilities/export', { params: { query }, parseAs: 'stream' }),
      )
      await writeBody(terminal, response, options.to)
    })

export const findingsCommand = noun('findings', 'List, decide about, import and export vulnerabilities.', [
  listCommand,
  showCommand,
  triageCommand,
  rulesCommand,
  importCommand,
  enrichCommand,
  exportCommand,
])

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

const listAssetsCommand = verb('list', 'List open assets, newest first.', {
  fields: {
    workspace: ['--workspace <names>', 'of these workspaces, separated by commas'],
    search: ['--search <text>', 'part of value, URL or title'],
    asset_type: ['--type <types>', 'types like http, port or ip, separated by commas'],
    state: ['--state <word>', 'open or gone'],
    ...PAGE,
    all: ['--all', 'also those that are gone'],
  },
  call: ({ GET }, given: WithAll<QueryOf<'/assets'>>) =>
    GET('/assets', { params: { query: openUnless(given) } }),
  print: inColumns(ASSET_COLUMNS),
})

export const assetsCommand = noun('assets', 'List assets.', [listAssetsCommand])
