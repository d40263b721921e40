import {
  plural,
  SEVERITIES,
  type FindingRule,
  type RulePreview,
  type Vulnerability,
} from '@scanfarm/contracts'
import { InvalidArgumentError, Option } from 'commander'
import type { BodyOf } from '../../client/api.ts'
import type { FieldsOf } from '../../client/fields.ts'
import { inColumns } from '../../client/page.ts'
import { cut, printFields, printTable, valueText, type Column } from '../../client/table.ts'
import { dataOf, idField, verb, type Id } from '../../client/verb.ts'
import { CliError, EXIT } from '../../exit.ts'
import { noun } from '../../noun.ts'
import { collect, idArgument, wholeNumber, wholeNumberOrZero } from '../../options.ts'
import { printLine } from '../../terminal.ts'

type Decision = BodyOf<'/vulnerabilities/{id}', 'patch'>
type NewRule = BodyOf<'/finding-rules'>

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

export const showCommand = verb(
  'show',
  'Show a finding with what scans saw, what people decided, and its history.',
  {
    fields: idField('<id>', 'id of the finding'),
    call: ({ GET }, path: Id) => dataOf(GET('/vulnerabilities/{id}', { params: { path } })),
    print(terminal, data) {
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
    },
  },
)

/** What a person or a rule decides. */
const decided = (verdicts: readonly string[]) =>
  ({
    verdict: ['--verdict <word>', 'verdict', verdicts],
    reason: ['--reason <text>', 'reason of the verdict'],
    until: ['--until <time>', 'when an acceptance ends: a date, or RFC 3339'],
    set_severity: ['--set-severity <word>', 'severity', SEVERITIES],
    assignee: ['--assignee <name>', 'who takes care of it'],
    add_tags: ['--tag <tag>', 'tag to add; repeatable', collect],
  }) as const

const refuseSeverity = (): never => {
  throw new InvalidArgumentError('--set-severity sets the severity')
}

type Given = Omit<Decision, 'severity'> & {
  readonly ids: number[]
  readonly set_severity?: Decision['severity']
  readonly undo?: true
}

/** What an undo takes back. */
const UNDONE: Decision = { verdict: null, severity: null, assignee: null, tags: null }

export const triageCommand = verb('triage', 'Decide about findings. Scans do not change what is decided.', {
  fields: {
    ids: [
      '<ids...>',
      'ids of findings',
      (text: string, before: number[] = []) => [...before, wholeNumber(text)],
    ],
    ...decided(['none', 'confirmed', 'false_positive', 'accepted', 'fixed_claimed']),
    remove_tags: ['--untag <tag>', 'tag to remove; repeatable', collect],
    ticket: ['--ticket <url>', 'link to a ticket'],
    comment: ['--comment <text>', 'comment for the history'],
    undo: ['--undo', 'take verdict, severity, assignee and tags back, so that rules and scans decide'],
  },
  more: (command) => command.addOption(new Option('--severity <word>').hideHelp().argParser(refuseSeverity)),
  call({ POST }, { ids, undo, set_severity: severity, ...given }: Given) {
    const change = {
      ...(undo === true ? UNDONE : {}),
      ...given,
      ...(severity === undefined ? {} : { severity }),
    }
    if (Object.keys(change).length === 0)
      throw new CliError(EXIT.usage, 'nothing to decide: give --verdict, --assignee, --tag or another option')
    return POST('/vulnerabilities/bulk', { body: { ids, change } })
  },
  print(terminal, { data }) {
    for (const { id, outcome } of data) printLine(terminal, `${id}  ${outcome.replaceAll('_', ' ')}`)
    if (data.some(({ outcome }) => outcome === 'not_found' || outcome === 'too_many_tags'))
      throw new CliError(EXIT.failed, 'not all findings were changed')
  },
})

const RULES: readonly Column<FindingRule>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'POS', value: ({ position }) => position },
  { title: 'NAME', value: ({ name }) => cut(name, 20) },
  { title: 'FINDINGS', value: ({ findings }) => findings },
  { title: 'SETS', value: ({ set }) => cut(setText(set), 24) },
  { title: 'MATCHES', value: ({ match }) => valueText(match) },
]

/** The verdict and the severity come first. */
const setText = ({ verdict, severity, ...others }: FindingRule['set']): string =>
  valueText({ ...(verdict && { verdict }), ...(severity && { severity }), ...others })

const wordsOf = (text: string): string[] => text.split(',').map((word) => word.trim())

const MATCHED = {
  check: ['--check <glob>', 'identifier of the check'],
  title: ['--title <glob>', 'title'],
  asset: ['--asset <glob>', 'place or host, or an address range like 10.0.0.0/8'],
  workspace: ['--workspace <glob>', 'workspace'],
  severity: ['--severity <words>', 'severities of the scanner, separated by commas', wordsOf],
  tool: ['--tool <glob>', 'source, or a tag of the scanner'],
} as const satisfies FieldsOf<NewRule['match']>

const RULE = {
  ...decided(['confirmed', 'false_positive', 'accepted']),
  ...MATCHED,
  position: ['--position <number>', 'lower ones apply first; default: after all others', wholeNumberOrZero],
} as const

type GivenRule = Omit<NewRule['set'], 'severity' | 'tags'> &
  NewRule['match'] & {
    readonly set_severity?: NewRule['set']['severity']
    readonly add_tags?: string[]
    readonly name?: string
    readonly position?: number
  }

const ruleOf = ({ name = '', position, set_severity, add_tags, ...given }: GivenRule): NewRule => {
  const { check, title, asset, workspace, severity, tool, ...set } = given
  return {
    name,
    position,
    match: { check, title, asset, workspace, severity, tool },
    set: { ...set, severity: set_severity, tags: add_tags },
  }
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

const listRules = verb('list', 'List the rules in the order in which they apply.', {
  call: ({ GET }) => dataOf(GET('/finding-rules')),
  print: inColumns(RULES),
})

const createRule = verb('create', 'Create a rule and apply it to present and future findings.', {
  fields: { name: ['<name>', 'name of the rule'], ...RULE },
  more: (command) => command.alias('add'),
  call: ({ POST }, given: GivenRule) => POST('/finding-rules', { body: ruleOf(given) }),
  print: (terminal, { data, changed }) =>
    printLine(terminal, `rule ${data.id} created; it changed ${plural(changed, 'finding')}`),
})

const previewRule = verb('preview', 'Show what a rule would change, without creating it.', {
  fields: RULE,
  call: ({ POST }, given: GivenRule) =>
    dataOf(POST('/finding-rules/preview', { body: ruleOf({ ...given, name: 'preview' }) })),
  print(terminal, { matched, complete, changed, findings }) {
    const more = complete ? '' : ' of the newest'
    const what = matched === 1 ? 'finding' : 'findings'
    printLine(terminal, `matches ${matched}${more} ${what} and would change ${changed}`)
    if (findings.length > 0) printTable(terminal, PREVIEW, findings)
  },
})

const removeRule = verb('remove', 'Remove a rule and what it set.', {
  fields: { rule: ['<rule>', 'id or name', idArgument] },
  call: ({ DELETE }, path: { readonly rule: string }) =>
    DELETE('/finding-rules/{rule}', { params: { path } }),
  print: (terminal, { changed }) =>
    printLine(terminal, `rule removed; ${plural(changed, 'finding')} changed`),
})

export const rulesCommand = noun('rules', 'Rules that decide about present and future findings.', [
  listRules,
  createRule,
  previewRule,
  removeRule,
])
