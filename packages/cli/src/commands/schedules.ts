import type { Schedule } from '@scanfarm/contracts'
import type { Command } from 'commander'
import type { BodyOf, QueryOf } from '../client/api.ts'
import { clientCommand, connect, printAnswer, printWarnings, type ClientOptions } from '../client/connect.ts'
import { addFields, fieldsOf, type CommandOptions, type FieldsOf } from '../client/fields.ts'
import { inColumns, PAGE } from '../client/page.ts'
import { printRow, shortTime, type Column } from '../client/table.ts'
import { idField, verb, type Id } from '../client/verb.ts'
import { CliError, EXIT } from '../exit.ts'
import { noun } from '../noun.ts'
import { addParams, collect, collectParam, flowOrModule } from '../options.ts'
import { DELTA } from '../scan/scan-options.ts'
import type { Terminal } from '../terminal.ts'

const targetsText = ({ target, targets = [] }: Schedule): string =>
  targets.length === 0 ? target : targets.join(' ')

const COLUMNS: readonly Column<Schedule>[] = [
  { title: 'NAME', value: (one) => one.name },
  { title: 'ENABLED', value: (one) => (one.is_enabled ? 'yes' : 'no'), coloured: true },
  { title: 'WHEN', value: (one) => one.event_topic || one.watch_path || `${one.schedule} ${one.timezone}` },
  { title: 'NEXT (UTC)', value: (one) => shortTime(one.next_run) },
  { title: 'WORKFLOW', value: (one) => one.workflow_name },
  { title: 'TARGET', value: targetsText },
]

const listCommand = verb('list', 'List the schedules, newest first.', {
  fields: PAGE,
  call: ({ GET }, query: QueryOf<'/schedules'>) => GET('/schedules', { params: { query } }),
  print: inColumns(COLUMNS),
})

type NewSchedule = BodyOf<'/schedules'>

const OPTIONS = {
  ...DELTA,
  schedule: [
    '--cron <expression>',
    'cron expression with five fields',
    undefined,
    { conflicts: ['event', 'watch'] },
  ],
  event_topic: ['--event <topic>', 'topic, or a glob over topics', undefined, { conflicts: ['watch'] }],
  watch_path: ['--watch <path>', 'absolute path or glob on the server'],
  timezone: ['--timezone <zone>', 'time zone of the cron expression; default UTC'],
  input: ['--input <name=expression>', 'input from the event; repeatable', collectParam],
  overlap: [
    '--overlap <policy>',
    'policy if the previous runs have not ended',
    ['allow', 'skip', 'queue', 'cancel-previous'],
  ],
  missed: ['--missed <policy>', 'policy for missed executions', ['skip', 'once', 'all']],
  jitter: ['--jitter <duration>', 'start later by a fixed part of it, like 30m'],
} as const satisfies FieldsOf<NewSchedule>

const WORKFLOW = {
  workflow_name: ['-w, --workflow <name>', 'flow or module', flowOrModule, { required: true }],
  targets: ['-t, --target <target>', 'target of the runs; repeatable', collect],
} as const satisfies FieldsOf<NewSchedule>

interface CreateOptions extends ClientOptions, CommandOptions {
  readonly param?: Readonly<Record<string, string>>
}

const withOptions = (command: Command): Command =>
  addFields(addParams(addFields(command, WORKFLOW), 'parameter of the workflow'), OPTIONS)

const createCommand = (terminal: Terminal): Command =>
  withOptions(clientCommand('create', 'Start a workflow on a schedule, on events, or when files change.'))
    .argument('<name>', 'name of the schedule')
    .action(async (name: string, options: CreateOptions) => {
      const { targets = [], ...given } = fieldsOf<Omit<NewSchedule, 'name'>>(
        { ...WORKFLOW, ...OPTIONS },
        options,
      )
      const { schedule, event_topic: event, watch_path: watch } = given
      if (schedule === undefined && event === undefined && watch === undefined)
        throw new CliError(EXIT.usage, 'a schedule needs a trigger: --cron, --event or --watch')
      const body: NewSchedule = {
        name,
        ...given,
        trigger_type: event !== undefined ? 'event' : watch !== undefined ? 'watch' : 'cron',
        ...(targets.length > 1 ? { targets } : { target: targets[0] }),
        params: options.param,
      }
      const { data, warnings } = await connect(terminal, options).call(({ POST }) =>
        POST('/schedules', { body }),
      )
      printWarnings(terminal, warnings)
      const fields = [{ title: 'ID', value: () => data.id }, ...COLUMNS]
      printAnswer(terminal, options, data, (it) => printRow(terminal, fields, it))
    })

const SCHEDULE = idField('<schedule>', 'name or id')

const changing = (word: 'enable' | 'disable' | 'trigger', description: string) =>
  verb(word, description, {
    fields: SCHEDULE,
    call: ({ POST }, path: Id) => POST(`/schedules/{id}/${word}`, { params: { path } }),
  })

const removeCommand = verb('remove', 'Delete a schedule. Its runs are kept.', {
  fields: SCHEDULE,
  call: ({ DELETE }, path: Id) => DELETE('/schedules/{id}', { params: { path } }),
})

export const schedulesCommand = noun(
  'schedules',
  'Create, list, enable, disable, trigger and delete schedules.',
  [
    listCommand,
    createCommand,
    changing('enable', 'Enable a schedule from now on.'),
    changing('disable', 'Disable a schedule.'),
    changing('trigger', 'Trigger a schedule now.'),
    removeCommand,
  ],
)
