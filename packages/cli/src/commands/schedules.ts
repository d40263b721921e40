import type { Schedule } from '@scanfarm/contracts'
import { Command, Option } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { printFields, printJson, type Column } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { addParams, collect, collectParam, someId } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { paged, printPage, type Page, type PageOptions } from './lists.ts'

const show = (terminal: Terminal, options: ClientOptions, value: object): void =>
  wantsJson(options) ? printJson(terminal, value) : printFields(terminal, { ...value })

const targetsText = ({ target, targets = [] }: Schedule): string =>
  targets.length === 0 ? target : targets.join(' ')

const COLUMNS: readonly Column<Schedule>[] = [
  { title: 'ID', value: (one) => one.id },
  { title: 'TYPE', value: (one) => one.trigger_type },
  { title: 'ENABLED', value: (one) => (one.is_enabled ? 'yes' : 'no') },
  { title: 'WHEN', value: (one) => one.schedule || one.event_topic || one.watch_path },
  { title: 'NEXT', value: (one) => one.next_run },
  { title: 'RUNS', value: (one) => one.run_count },
  { title: 'WORKFLOW', value: (one) => one.workflow_name },
  { title: 'NAME', value: (one) => one.name },
  { title: 'TARGET', value: targetsText },
]

type ListOptions = ClientOptions & PageOptions

const listCommand = (terminal: Terminal): Command =>
  paged(clientCommand('list', 'List the schedules, newest first.')).action(async (options: ListOptions) => {
    const { limit, offset } = options
    const page = await connect(terminal, options).get<Page<Schedule>>('/schedules', { limit, offset })
    printPage(terminal, options, page, COLUMNS)
  })

interface CreateOptions extends ClientOptions {
  readonly workflow: string
  readonly cron?: string
  readonly timezone?: string
  readonly event?: string
  readonly watch?: string
  readonly target?: readonly string[]
  readonly param?: Readonly<Record<string, string>>
  readonly input?: Readonly<Record<string, string>>
  readonly overlap?: string
  readonly missed?: string
}

const createCommand = (terminal: Terminal): Command =>
  addParams(
    clientCommand('create', 'Start a workflow by the clock, by events or by files.')
      .argument('<name>', 'what the schedule is for')
      .requiredOption('-w, --workflow <name>', 'flow or module')
      .option('-t, --target <target>', 'target of the runs; may be given again', collect),
    'parameter of the workflow',
  )
    .addOption(new Option('--cron <expression>', 'five fields').conflicts(['event', 'watch']))
    .addOption(new Option('--event <topic>', 'topic, or a glob over topics').conflicts('watch'))
    .option('--watch <path>', 'absolute path or glob on the server')
    .option('--timezone <zone>', 'of the cron expression; default UTC')
    .option('--input <name=expression>', 'input from the event; may be given again', collectParam)
    .addOption(
      new Option('--overlap <policy>', 'when the last runs have not ended').choices([
        'allow',
        'skip',
        'queue',
        'cancel-previous',
      ]),
    )
    .addOption(new Option('--missed <policy>', 'firings that were missed').choices(['skip', 'once', 'all']))
    .action(async (name: string, options: CreateOptions) => {
      const { workflow, cron, event, watch, timezone, target = [], param, input, overlap, missed } = options
      if (cron === undefined && event === undefined && watch === undefined)
        throw new CliError(EXIT.usage, 'name what starts the runs: --cron, --event or --watch')
      const answer = await connect(terminal, options).post<{ data: Schedule }>('/schedules', {
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
      })
      show(terminal, options, answer.data)
    })

const changing = (word: 'enable' | 'disable' | 'trigger', description: string) => (terminal: Terminal) =>
  clientCommand(word, description)
    .argument('<id>', 'id of the schedule', someId)
    .action(async (id: string, options: ClientOptions) => {
      const path = `/schedules/${encodeURIComponent(id)}/${word}`
      show(terminal, options, await connect(terminal, options).post<object>(path))
    })

const removeCommand = (terminal: Terminal): Command =>
  clientCommand('remove', 'Delete a schedule; its runs stay.')
    .argument('<id>', 'id of the schedule', someId)
    .action(async (id: string, options: ClientOptions) => {
      const path = `/schedules/${encodeURIComponent(id)}`
      show(terminal, options, await connect(terminal, options).remove<object>(path))
    })

export const schedulesCommand = (terminal: Terminal): Command =>
  new Command('schedules')
    .description('Make, list, switch, fire and delete schedules.')
    .addCommand(listCommand(terminal))
    .addCommand(createCommand(terminal))
    .addCommand(changing('enable', 'Let a schedule fire again, from now on.')(terminal))
    .addCommand(changing('disable', 'Stop a schedule from firing.')(terminal))
    .addCommand(changing('trigger', 'Fire a schedule now.')(terminal))
    .addCommand(removeCommand(terminal))
