import type { components, paths } from '@scanfarm/client'
import { SEVERITIES } from '@scanfarm/contracts'
import type { Command } from 'commander'
import { callingCommand, clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { writeBody } from '../client/files.ts'
import { cut, printJson, printTable, type Column } from '../client/table.ts'
import { dataOf, verb } from '../client/verb.ts'
import { CliError, EXIT } from '../exit.ts'
import { addFile, idArgument } from '../options.ts'
import { printLine, type Terminal } from '../terminal.ts'

type AnswerOf<P extends '/jobs/{job_id}/changes' | '/queue'> =
  paths[P]['get']['responses'][200]['content']['application/json']
type Changes = AnswerOf<'/jobs/{job_id}/changes'>['data']
type Changed = components['schemas']['ChangedFinding'] & { readonly change: string }

const KINDS = ['new', 'back', 'gone', 'not_tested'] as const
const MOST = 1_000

const COLUMNS: readonly Column<Changed>[] = [
  { title: 'CHANGE', value: ({ change }) => change, coloured: true },
  { title: 'SEVERITY', value: ({ severity }) => severity, coloured: true },
  { title: 'ID', value: ({ id }) => id },
  { title: 'WHAT', value: ({ vuln_title, vuln_info }) => cut(vuln_title || vuln_info, 32) },
  { title: 'ASSET', value: ({ asset_value }) => asset_value },
]

const rank = (severity: string): number => SEVERITIES.findIndex((word) => word === severity)

/** `new: 1 critical, 2 low`. */
const countsText = (kind: (typeof KINDS)[number], changes: Changes): string => {
  const counts = Object.entries(changes.counts[kind])
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .map(([severity, count]) => `${count} ${severity}`)
  return `${kind.replace('_', ' ')}: ${counts.length === 0 ? '0' : counts.join(', ')}`
}

export const diffCommand = verb(
  'diff',
  'Show which findings are new, back and gone between two jobs, and what was not tested.',
  {
    fields: {
      since: ['<earlier>', 'id of a job', idArgument],
      job_id: ['<later>', 'id of a job that came after it', idArgument],
    },
    call({ GET }, { since, ...path }: { readonly since: string; readonly job_id: string }) {
      const params = { path, query: { since, limit: MOST } }
      return dataOf(GET('/jobs/{job_id}/changes', { params }))
    },
    print(terminal, data) {
      printLine(terminal, KINDS.map((kind) => countsText(kind, data)).join('; '))
      const rows = KINDS.flatMap((kind) => data[kind].map((finding) => ({ ...finding, change: kind })))
      if (rows.length > 0) printTable(terminal, COLUMNS, rows)
    },
  },
)

interface ReportOptions extends Omit<ClientOptions, 'output' | 'json'> {
  readonly schedule?: string
  readonly job?: string
  readonly to?: string
}

export const reportCommand = (terminal: Terminal): Command =>
  addFile(callingCommand('report', 'Write a report for a person: one page of HTML, to be read or printed.'))
    .argument('[workspace]', 'about this workspace and the last job in it', idArgument)
    .option('--schedule <name>', 'about the last job of this schedule; its name or id')
    .option('--job <id>', 'about this job', idArgument)
    .action(async (workspace: string | undefined, { schedule, job, to, ...options }: ReportOptions) => {
      if ([workspace, schedule, job].filter((one) => one !== undefined).length !== 1)
        throw new CliError(EXIT.usage, 'a report is about one thing: give a workspace, --schedule or --job')
      const api = connect(terminal, options)
      const parseAs = 'stream'
      const { response } = await api.with(({ GET }) => {
        if (workspace !== undefined)
          return GET('/reports/workspaces/{workspace}', { params: { path: { workspace } }, parseAs })
        if (job !== undefined)
          return GET('/reports/jobs/{job_id}', { params: { path: { job_id: job } }, parseAs })
        return GET('/reports/schedules/{id}', { params: { path: { id: schedule ?? '' } }, parseAs })
      })
      await writeBody(terminal, response, to)
    })

interface Waiting {
  readonly workflow: string
  readonly jobs: number
  readonly waiting: number
  readonly running: number
  readonly oldest: string
}

const WAITING: readonly Column<Waiting>[] = [
  { title: 'WAITING', value: ({ waiting }) => waiting },
  { title: 'RUNNING', value: ({ running }) => running },
  { title: 'JOBS', value: ({ jobs }) => jobs },
  { title: 'OLDEST', value: ({ oldest }) => ageOf(oldest) },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
]

const GROUPS: readonly Column<AnswerOf<'/queue'>['groups'][number]>[] = [
  { title: 'WAITING', value: ({ waiting }) => waiting },
  { title: 'PRIORITY', value: ({ priority }) => priority },
  { title: 'OLDEST', value: ({ oldest_at }) => (oldest_at === null ? '' : ageOf(oldest_at)) },
  { title: 'WHY', value: ({ why }) => why },
]

const SPANS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const

const ageOf = (time: string): string => {
  const ms = Math.max(0, Date.now() - Date.parse(time))
  const [unit, length] = SPANS.find(([, each]) => ms >= each) ?? ['s', 1_000]
  return `${Math.floor(ms / length)}${unit}`
}

type Job = components['schemas']['JobSummary']

/** Open jobs with runs that wait, by workflow, the oldest first. */
const byWorkflow = (jobs: readonly Job[]): Waiting[] =>
  [...Map.groupBy(jobs, ({ workflow_name }) => workflow_name)]
    .map(([workflow, those]) => ({
      workflow,
      jobs: those.length,
      waiting: those.reduce((sum, { counts }) => sum + (counts?.pending ?? 0), 0),
      running: those.reduce((sum, { counts }) => sum + (counts?.running ?? 0), 0),
      oldest: those.map(({ created_at }) => created_at).toSorted()[0] ?? '',
    }))
    .toSorted((a, b) => a.oldest.localeCompare(b.oldest))

/** Pages of open jobs that are counted. */
const PAGES = 10
const PAGE = 200

export const queueCommand = (terminal: Terminal): Command =>
  clientCommand('queue', 'Show what waits, by workflow, and why.').action(async (options: ClientOptions) => {
    const api = connect(terminal, options)
    const queue = await api.call(({ GET }) => GET('/queue'))
    if (wantsJson(options)) return printJson(terminal, queue)
    const jobs: Job[] = []
    let cursor: string | undefined
    for (let page = 0; page < PAGES; page += 1) {
      const query = { status: 'open' as const, limit: PAGE, cursor }
      const { data, pagination } = await api.call(({ GET }) => GET('/jobs', { params: { query } }))
      jobs.push(...data)
      cursor = pagination.next_cursor
      if (cursor === undefined) break
    }
    // The end of a job is noticed some seconds after the end of its last run.
    const open = jobs.filter(({ counts }) => counts === null || counts.pending + counts.running > 0)
    if (open.length === 0) return printLine(terminal, 'nothing waits')
    printTable(terminal, WAITING, byWorkflow(open))
    if (cursor !== undefined) printLine(terminal, `only the newest ${jobs.length} open jobs are counted`)
    if (queue.groups.length === 0) return
    printLine(terminal, '')
    printTable(terminal, GROUPS, queue.groups)
  })
