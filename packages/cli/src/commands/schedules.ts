import type { Schedule } from '@scanfarm/contracts'
import type { paths } from '@scanfarm/client'
import { Command, Option } from 'commander'
import { actionOn, printAnswer, printWarnings } from '../client/answer.ts'
import { clientCommand, connect, type ClientOptions } from '../client/connect.ts'
import { printRow, shortTime, type Column } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import {
  addDelta,
  addParams,
  addWorkflow,
  collect,
  collectParam,
  deltaFields,
  idArgument,
  type DeltaOptions,
} from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { paged, printPage, type PageOptions } from './lists.ts'

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

type ListOptions = ClientOptions & PageOptions

const listCommand = (terminal: Terminal): Command =>
  paged(clientCommand('list', 'List the schedules, newest first.')).action(async (options: ListOptions) => {
    const { limit, offset } = options
    const page = await connect(terminal, options).call(({ GET }) =>
      GET('/schedules', { params: { query: { limit, offset } } }),
    )
    printPage(terminal, options, page, COLUMNS)
  })

type CreateSchedule = paths['/schedules']['post']['requestBody']['content']['application/json']

interface CreateOptions extends ClientOptions, DeltaOptions {
  readonly workflow: string
  readonly cron?: string
  readonly timezone?: string
  readonly event?: string
  readonly watch?: string
  readonly target?: string[]
  readonly param?: Readonly<Record<string, string>>
  readonly input?: Readonly<Record<string, string>>
  readonly overlap?: CreateSchedule['overlap']
  readonly missed?: CreateSchedule['missed']
  readonly jitter?: string
}

const createCommand = (terminal: Terminal): Command =>
  addDelta(
    addParams(
      addWorkflow(
        clientCommand('create', 'Start a workflow on a schedule, on events, or when files change.'),
        new Option('-w, --workflow <name>', 'flow or module').makeOptionMandatory(),
      )
        .argument('<name>', 'name of the schedule')
        .option('-t, --target <target>', 'target of the runs; repeatable', collect),
      'parameter of the workflow',
    ),
  )
    .addOption(
      new Option('--cron <expression>', 'cron expression with five fields').conflicts(['event', 'watch']),
    )
    .addOption(new Option('--event <topic>', 'topic, or a glob over topics').conflicts('watch'))
    .option('--watch <path>', 'absolute path or glob on the server')
    .option('--timezone <zone>', 'time zone of the cron expression; default UTC')
    .option('--input <name=expression>', 'input from the event; repeatable', collectParam)
    .addOption(
      new Option('--overlap <policy>', 'policy if the previous runs have not ended').choices([
        'allow',
        'skip',
        'queue',
        'cancel-previous',
      ]),
    )
    .addOption(
      new Option('--missed <policy>', 'policy for missed executions').choices(['skip', 'once', 'all']),
    )
    .option('--jitter <duration>', 'start later by a fixed part of it, like 30m')
    .action(async (name: string, options: CreateOptions) => {
      const {
        workflow,
        cron,
        event,
        watch,
        timezone,
        target = [],
        param,
        input,
        overlap,
        missed,
        jitter,
      } = options
      if (cron === undefined && event === undefined && watch === undefined)
        throw new CliError(EXIT.usage, 'a schedule needs a trigger: --cron, --event or --watch')
      const body: CreateSchedule = {
        name,
        workflow_name: workflow,
        trigger_type: event !== undefined ? 'event' : watch !== undefined ? 'watch' : 'cron',
        schedule: cron,
        event_topic: event,
        watch_path: watch,
        timezone,
        ...(target.length > 1 ? { targets: target } : { target: target[0] }),
        params: param,
        input,
        overlap,
        missed,
        jitter,
        ...deltaFields(options),
      }
      const { data, warnings } = await connect(terminal, options).call(({ POST }) =>
        POST('/schedules', { body }),
      )
      printWarnings(terminal, warnings)
      const fields = [{ title: 'ID', value: () => data.id }, ...COLUMNS]
      printAnswer(terminal, options, data, (it) => printRow(terminal, fields, it))
    })

const changing = (word: 'enable' | 'disable' | 'trigger', description: string) => (terminal: Terminal) =>
  clientCommand(word, description)
    .argument('<schedule>', 'name or id', idArgument)
    .action(
      actionOn(terminal, ({ POST }, id) => POST(`/schedules/{id}/${word}`, { params: { path: { id } } })),
    )

const removeCommand = (terminal: Terminal): Command =>
  clientCommand('remove', 'Delete a schedule. Its runs are kept.')
    .argument('<schedule>', 'name or id', idArgument)
    .action(actionOn(terminal, ({ DELETE }, id) => DELETE('/schedules/{id}', { params: { path: { id } } })))

export const schedulesCommand = (terminal: Terminal): Command =>
  new Command('schedules')
    .description('Create, list, enable, disable, trigger and delete schedules.')
    .addCommand(listCommand(terminal))
    .addCommand(createCommand(terminal))
    .addCommand(changing('enable', 'Enable a schedule from now on.')(terminal))
    .addCommand(changing('disable', 'Disable a schedule.')(terminal))
    .addCommand(changing('trigger', 'Trigger a schedule now.')(terminal))
    .addCommand(removeCommand(terminal))
