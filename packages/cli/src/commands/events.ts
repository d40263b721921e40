import type { FarmEvent, ItemOf } from '@scanfarm/client'
import { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { plain, printFields, printJson, shortTime, type Column } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { paged, printPage, type PageOptions } from './lists.ts'

type Entry = ItemOf<'/event-logs'>

interface FilterOptions extends ClientOptions {
  readonly topic?: string
  readonly workspace?: string
  readonly run?: string
}

const filtered = (command: Command): Command =>
  command
    .option('--topic <topic>', 'topic of the events, or a shell glob')
    .option('--workspace <name>', 'events of this workspace')
    .option('--run <uuid>', 'events of this run')

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'ID', value: (entry) => entry.id },
  { title: 'TIME', value: (entry) => shortTime(entry.created_at) },
  { title: 'TOPIC', value: (entry) => entry.topic },
  { title: 'DONE', value: (entry) => (entry.processed ? 'yes' : 'no') },
  { title: 'WORKFLOW', value: (entry) => entry.workflow_name },
  { title: 'ERROR OR DATA', value: (entry) => entry.error || entry.data },
]

const listCommand = (terminal: Terminal): Command =>
  paged(filtered(clientCommand('list', 'List the event log, newest first.'))).action(
    async (options: FilterOptions & PageOptions) => {
      const { topic, workspace, run, limit, offset } = options
      const params = { query: { topic, workspace, run_id: run, limit, offset } }
      const page = await connect(terminal, options).call(({ GET }) => GET('/event-logs', { params }))
      printPage(terminal, options, page, COLUMNS)
    },
  )

const dataOf = (text: string): Record<string, unknown> => {
  const data = parsed(text)
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data }
  throw new CliError(EXIT.usage, 'the data must be a JSON object, for example \'{"host": "example.com"}\'')
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface EmitOptions extends ClientOptions {
  readonly source?: string
  readonly dataType?: string
}

const emitCommand = (terminal: Terminal): Command =>
  clientCommand('emit', 'Emit an event and start the workflows that it triggers.')
    .argument('<topic>', 'for example custom.build')
    .argument('[data]', 'JSON object', '{}')
    .option('--source <name>', 'source of the event (default: api)')
    .option('--data-type <word>', 'type of the data (default: by topic)')
    .action(async (topic: string, data: string, options: EmitOptions) => {
      const { source, dataType } = options
      const body = { topic, data: dataOf(data), source, data_type: dataType }
      const answer = await connect(terminal, options).call(({ POST }) => POST('/events/emit', { body }))
      if (wantsJson(options)) printJson(terminal, answer)
      else printFields(terminal, { ...answer })
    })

const printEvent = (
  terminal: Terminal,
  options: ClientOptions,
  { position: _, ...entry }: FarmEvent,
): void => {
  if (wantsJson(options)) return printLine(terminal, JSON.stringify(entry))
  printLine(terminal, `${entry.created_at}  ${plain(entry.topic)}  ${plain(entry.data)}`)
}

const followCommand = (terminal: Terminal): Command =>
  filtered(clientCommand('follow', 'Print events as they happen, until it is interrupted.')).action(
    async (options: FilterOptions) => {
      const { topic, workspace, run: runId } = options
      await connect(terminal, options).with(async ({ events }) => {
        for await (const event of events({ topic, workspace, runId })) printEvent(terminal, options, event)
      })
    },
  )

export const eventsCommand = (terminal: Terminal): Command =>
  new Command('events')
    .description('List, follow and emit events.')
    .addCommand(listCommand(terminal))
    .addCommand(followCommand(terminal))
    .addCommand(emitCommand(terminal))
