import type { Pagination, Schedule } from '@scanfarm/contracts'
import { Command, Option } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { printFields, printJson, printTable } from '../client/table.ts'
import { collectParam } from '../options.ts'
import type { Terminal } from '../terminal.ts'

const show = (terminal: Terminal, options: ClientOptions, value: object): void =>
  wantsJson(options) ? printJson(terminal, value) : printFields(terminal, { ...value })

const listCommand = (terminal: Terminal): Command =>
  clientCommand('list', 'List the schedules, newest first.').action(async (options: ClientOptions) => {
    const page = await connect(terminal, options).get<{ data: Schedule[]; pagination: Pagination }>(
      '/schedules',
      { limit: 1_000 },
    )
    if (wantsJson(options)) return printJson(terminal, page)
    printTable(
      terminal,
      [
        { title: 'ID', value: (one) => one.id },
        { title: 'TYPE', value: (one) => one.trigger_type },
        { title: 'ENABLED', value: (one) => (one.is_enabled ? 'yes' : 'no') },
        { title: 'WHEN', value: (one) => one.schedule || one.event_topic || one.watch_path },
        { title: 'NEXT', value: (one) => one.next_run },
        { title: 'RUNS', value: (one) => one.run_count },
        { title: 'WORKFLOW', value: (one) => one.workflow_name },
        { title: 'NAME', value: (one) => one.name },
      ],
      page.data,
    )
  })

interface CreateOptions extends ClientOptions {
  readonly workflow: string
  readonly cron?: string
  readonly timezone?: string
  readonly event?: string
  readonly watch?: string
  readonly target?: string
  readonly params?: Readonly<Record<string, string>>
  readonly input?: Readonly<Record<string, string>>
  readonly overlap?: string
  readonly missed?: string
}

const createCommand = (terminal: Terminal): Command =>
  clientCommand('create', 'Start a workflow by the clock, by events or by files.')
    .argument('<name>', 'what the schedule is for')
    .requiredOption('-w, --workflow <name>', 'flow or module')
    .addOption(new Option('--cron <expression>', 'five fields').conflicts(['event', 'watch']))
    .addOption(new Option('--event <topic>', 'topic, or a glob over topics').conflicts('watch'))
    .option('--watch <path>', 'absolute path or glob on the server')
    .option('--timezone <zone>', 'of the cron expression; default UTC')
    .option('-t, --target <target>', 'target of the runs')
    .option('-p, --params <name=value>', 'param of the runs; may be repeated', collectParam)
    .option('--input <name=expression>', 'input from the event; may be repeated', collectParam)
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
      const { workflow, cron, event, watch, timezone, target, params, input, overlap, missed } = options
      const answer = await connect(terminal, options).post<{ data: Schedule }>('/schedules', {
        name,
        workflow_name: workflow,
        trigger_type: event !== undefined ? 'event' : watch !== undefined ? 'watch' : 'cron',
        schedule: cron,
        event_topic: event,
        watch_path: watch,
        timezone,
        target,
        params,
        input,
        overlap,
        missed,
      })
      show(terminal, options, answer.data)
    })

const changing = (word: 'enable' | 'disable' | 'trigger', description: string) => (terminal: Terminal) =>
  clientCommand(word, description)
    .argument('<id>', 'id of the schedule')
    .action(async (id: string, options: ClientOptions) => {
      const path = `/schedules/${encodeURIComponent(id)}/${word}`
      show(terminal, options, await connect(terminal, options).post<object>(path))
    })

const removeCommand = (terminal: Terminal): Command =>
  clientCommand('remove', 'Delete a schedule; its runs stay.')
    .argument('<id>', 'id of the schedule')
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
