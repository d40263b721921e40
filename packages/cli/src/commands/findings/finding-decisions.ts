import {
  plural,
  type FindingRule,
  type RulePreview,
  type Severity,
  type Vulnerability,
} from '@scanfarm/contracts'
import type { paths } from '@scanfarm/client'
import { Command, InvalidArgumentError, Option } from 'commander'
import { actionOn } from '../../client/answer.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { cut, printFields, printJson, printTable, valueText, type Column } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { collect, idArgument, wholeNumber, wholeNumberOrZero } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'

type Decision = paths['/vulnerabilities/{id}']['patch']['requestBody']['content']['application/json']
type NewRule = paths['/finding-rules']['post']['requestBody']['content']['application/json']

const VERDICTS = ['none', 'confirmed', 'false_positive', 'accepted', 'fixed_claimed']
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info']

/** The one word that says what to do about a finding. */
export const statusOf = ({ back_at, verdict, seen }: Vulnerability): string =>
  back_at !== null ? 'back' : verdict === 'none' || seen === 'gone' ? seen : verdict

const HISTORY: readonly Column<{ changed_at: string; changed_by: string; what: string }>[] = [
  { title: 'WHEN', value: ({ changed_at }) => changed_at.slice(0, 16) },
  { title: 'WHO', value: ({ changed_by }) => cut(changed_by, 20) },
  { title: 'WHAT', value: ({ what }) => what },
]

const WHY: readonly Column<Vulnerability['priority']['why'][number]>[] = [
  { title: 'PRIORITY', value: ({ factor }) => factor },
  { title: 'POINTS', value: ({ points }) => points },
  { title: 'WHY', value: ({ text }) => text },
]

const changeText = (changes: Readonly<Record<string, { from?: unknown; to?: unknown }>>): string =>
  Object.entries(changes)
    .map(([field, { to }]) => `${field} ${valueText(to)}`)
    .join(', ')

export const showCommand = (terminal: Terminal): Command =>
  clientCommand('show', 'Show a finding with what scans saw, what people decided, and its history.')
    .argument('<id>', 'id of the finding', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const { data } = await connect(terminal, options).call(({ GET }) =>
        GET('/vulnerabilities/{id}', { params: { path: { id } } }),
      )
      if (wantsJson(options)) return printJson(terminal, data)
      printFields(terminal, {
        id: data.id,
        finding: data.vuln_title || data.vuln_info,
        check: data.vuln_info,
        asset: data.asset_value,
        workspace: data.workspace,
        severity:
          data.severity === data.scan_severity
            ? data.severity
            : `${data.severity} (scanner: ${data.scan_severity})`,
        priority: data.priority.score,
        cvss: data.cvss === null ? '' : `${data.cvss.score} (${data.cvss.vector})`,
        cves: data.cves.join(', '),
        state: data.state,
        seen: data.seen_reason === '' ? data.seen : `${data.seen}: ${data.seen_reason}`,
        verdict: [
          data.verdict,
          data.decided_by === '' ? '' : `by ${data.decided_by}`,
          data.until === null ? '' : `until ${data.until}`,
        ]
          .filter((part) => part !== '')
          .join(' '),
        reason: data.reason,
        back: data.back_at,
        assignee: data.assignee,
        ticket: data.ticket,
        tags: data.tags.join(', '),
        rules: data.rules
          .map(({ name, sets }) => (sets.length === 0 ? name : `${name} (${sets.join(', ')})`))
          .join(', '),
        first_seen: data.first_seen,
        last_seen: data.last_seen,
      })
      printLine(terminal, '')
      printTable(terminal, WHY, data.priority.why)
      const rows = data.history.map(({ changed_at, changed_by, changes, comment, run_id: run }) => ({
        changed_at,
        changed_by: changed_by || (run === null ? '' : `run ${run}`),
        what: comment || changeText(changes),
      }))
      if (rows.length > 0) printLine(terminal, '')
      if (rows.length > 0) printTable(terminal, HISTORY, rows)
      if (!data.history_complete)
        printLine(terminal, 'older changes are not kept: only the newest 100 by scans and 1,000 by hand')
    })

interface DecisionOptions {
  readonly verdict?: Decision['verdict']
  readonly reason?: string
  readonly until?: string
  readonly severity?: Severity
  readonly assignee?: string
  readonly tag?: string[]
}

/** What a person or a rule decides. */
const deciding = (command: Command, verdicts: readonly string[]): Command =>
  command
    .addOption(new Option('--verdict <word>', 'verdict').choices(verdicts))
    .option('--reason <text>', 'reason of the verdict')
    .option('--until <time>', 'when an acceptance ends: a date, or RFC 3339')
    .addOption(new Option('--set-severity <word>', 'severity').choices(SEVERITIES))
    .option('--assignee <name>', 'who takes care of it')
    .option('--tag <tag>', 'tag to add; repeatable', collect)

interface TriageOptions extends ClientOptions, DecisionOptions {
  readonly setSeverity?: Severity
  readonly untag?: string[]
  readonly ticket?: string
  readonly comment?: string
  readonly undo?: boolean
}

const defined = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T

const refuseSeverity = (): never => {
  throw new InvalidArgumentError('--set-severity sets the severity')
}

export const triageCommand = (terminal: Terminal): Command =>
  deciding(clientCommand('triage', 'Decide about findings. Scans do not change what is decided.'), VERDICTS)
    .argument('<ids...>', 'ids of findings', (id: string, before?: number[]) => [
      ...(before ?? []),
      wholeNumber(id),
    ])
    .option('--untag <tag>', 'tag to remove; repeatable', collect)
    .option('--ticket <url>', 'link to a ticket')
    .option('--comment <text>', 'comment for the history')
    .addOption(new Option('--severity <word>').hideHelp().argParser(refuseSeverity))
    .option('--undo', 'take verdict, severity, assignee and tags back, so that rules and scans decide')
    .action(async (ids: number[], options: TriageOptions) => {
      const { verdict, reason, until, setSeverity, assignee, tag, untag, ticket, comment, undo } = options
      const given = defined({
        verdict,
        reason,
        until,
        severity: setSeverity,
        assignee,
        add_tags: tag,
        remove_tags: untag,
        ticket,
        comment,
      })
      const undone =
        undo === true ? defined({ verdict: null, severity: null, assignee: null, tags: null }) : {}
      const change: Decision = { ...undone, ...given }
      if (Object.keys(change).length === 0)
        throw new CliError(
          EXIT.usage,
          'nothing to decide: give --verdict, --assignee, --tag or another option',
        )
      const answer = await connect(terminal, options).call(({ POST }) =>
        POST('/vulnerabilities/bulk', { body: { ids, change } }),
      )
      if (wantsJson(options)) return printJson(terminal, answer)
      for (const { id, outcome } of answer.data) printLine(terminal, `${id}  ${outcome.replaceAll('_', ' ')}`)
      if (answer.data.some(({ outcome }) => outcome === 'not_found' || outcome === 'too_many_tags'))
        throw new CliError(EXIT.failed, 'not all findings were changed')
    })

const RULES: readonly Column<FindingRule>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'POS', value: ({ position }) => position },
  { title: 'NAME', value: ({ name }) => cut(name, 20) },
  { title: 'FINDINGS', value: ({ findings }) => findings },
  {
    title: 'SETS',
    value: ({ set: { verdict, severity, ...others } }) =>
      cut(valueText(defined({ verdict, severity, ...others })), 24),
  },
  { title: 'MATCHES', value: ({ match }) => valueText(match) },
]

interface RuleOptions extends ClientOptions, DecisionOptions {
  readonly setSeverity?: Severity
  readonly check?: string
  readonly title?: string
  readonly asset?: string
  readonly workspace?: string
  readonly severity?: Severity
  readonly tool?: string
  readonly position?: number
}

const matching = (command: Command): Command =>
  deciding(command, ['confirmed', 'false_positive', 'accepted'])
    .option('--check <glob>', 'identifier of the check')
    .option('--title <glob>', 'title')
    .option('--asset <glob>', 'place or host, or an address range like 10.0.0.0/8')
    .option('--workspace <glob>', 'workspace')
    .option('--severity <words>', 'severities of the scanner, separated by commas')
    .option('--tool <glob>', 'source, or a tag of the scanner')
    .option('--position <number>', 'lower ones apply first; default: after all others', wholeNumberOrZero)

const ruleOf = (name: string, options: RuleOptions): NewRule => {
  const { check, title, asset, workspace, severity, tool, position } = options
  const { verdict, reason, until, setSeverity, assignee, tag } = options
  return defined({
    name,
    position,
    match: defined({
      check,
      title,
      asset,
      workspace,
      severity: severity?.split(',').map((word) => word.trim()) as Severity[] | undefined,
      tool,
    }),
    set: defined({ verdict, reason, until, severity: setSeverity, assignee, tags: tag }) as NewRule['set'],
  })
}

const PREVIEW: readonly Column<RulePreview['findings'][number]>[] = [
  { title: 'ID', value: ({ id }) => id },
  {
    title: 'CHANGE',
    value: ({ before, after }) => {
      const fields = (['verdict', 'severity', 'assignee', 'tags'] as const).filter(
        (field) => String(before[field]) !== String(after[field]),
      )
      return cut(changeText(Object.fromEntries(fields.map((field) => [field, { to: after[field] }]))), 32)
    },
  },
  { title: 'WHAT', value: ({ after }) => cut(after.vuln_title || after.vuln_info, 24) },
  { title: 'ASSET', value: ({ after }) => after.asset_value },
]

const listRules = (terminal: Terminal): Command =>
  clientCommand('list', 'List the rules in the order in which they apply.').action(
    async (options: ClientOptions) => {
      const { data } = await connect(terminal, options).call(({ GET }) => GET('/finding-rules'))
      if (wantsJson(options)) return printJson(terminal, data)
      printTable(terminal, RULES, data)
    },
  )

const createRule = (terminal: Terminal): Command =>
  matching(clientCommand('create', 'Create a rule and apply it to present and future findings.').alias('add'))
    .argument('<name>', 'name of the rule')
    .action(async (name: string, options: RuleOptions) => {
      const body = ruleOf(name, options)
      const answer = await connect(terminal, options).call(({ POST }) => POST('/finding-rules', { body }))
      if (wantsJson(options)) return printJson(terminal, answer)
      printLine(terminal, `rule ${answer.data.id} created; it changed ${plural(answer.changed, 'finding')}`)
    })

const previewRule = (terminal: Terminal): Command =>
  matching(clientCommand('preview', 'Show what a rule would change, without creating it.')).action(
    async (options: RuleOptions) => {
      const body = ruleOf('preview', options)
      const { data } = await connect(terminal, options).call(({ POST }) =>
        POST('/finding-rules/preview', { body }),
      )
      if (wantsJson(options)) return printJson(terminal, data)
      const more = data.complete ? '' : ' of the newest'
      printLine(
        terminal,
        `matches ${data.matched}${more} ${data.matched === 1 ? 'finding' : 'findings'} and would change ${data.changed}`,
      )
      if (data.findings.length > 0) printTable(terminal, PREVIEW, data.findings)
    },
  )

const removeRule = (terminal: Terminal): Command =>
  clientCommand('remove', 'Remove a rule and what it set.')
    .argument('<rule>', 'id or name', idArgument)
    .action(
      actionOn(
        terminal,
        ({ DELETE }, rule) => DELETE('/finding-rules/{rule}', { params: { path: { rule } } }),
        ({ changed }) => printLine(terminal, `rule removed; ${plural(changed, 'finding')} changed`),
      ),
    )

export const rulesCommand = (terminal: Terminal): Command =>
  new Command('rules')
    .description('Rules that decide about present and future findings.')
    .addCommand(listRules(terminal))
    .addCommand(createRule(terminal))
    .addCommand(previewRule(terminal))
    .addCommand(removeRule(terminal))
