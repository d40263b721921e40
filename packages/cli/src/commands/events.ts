import { valueOr } from '@scanfarm/contracts'
import type { FarmEvent, ItemOf } from '@scanfarm/client'
import type { Command } from 'commander'
import type { QueryOf } from '../client/api.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { addFields, fieldsOf, type CommandOptions, type FieldsOf } from '../client/fields.ts'
import { inColumns, PAGE } from '../client/page.ts'
import { plain, shortTime, type Column } from '../client/table.ts'
import { verb } from '../client/verb.ts'
import { CliError, EXIT } from '../exit.ts'
import { noun } from '../noun.ts'
import { printLine, type Terminal } from '../terminal.ts'

type Query = QueryOf<'/event-logs'>

const FILTERS = {
  topic: ['--topic <topic>', 'topic of the events, or a shell glob'],
  workspace: ['--workspace <name>', 'events of this workspace'],
  run_id: ['--run <uuid>', 'events of this run'],
} as const satisfies FieldsOf<Query>

const COLUMNS: readonly Column<ItemOf<'/event-logs'>>[] = [
  { title: 'ID', value: (entry) => entry.id },
  { title: 'TIME', value: (entry) => shortTime(entry.created_at) },
  { title: 'TOPIC', value: (entry) => entry.topic },
  { title: 'DONE', value: (entry) => (entry.processed ? 'yes' : 'no') },
  { title: 'WORKFLOW', value: (entry) => entry.workflow_name },
  { title: 'ERROR OR DATA', value: (entry) => entry.error || entry.data },
]

const listCommand = verb('list', 'List the event log, newest first.', {
  fields: { ...FILTERS, ...PAGE },
  call: ({ GET }, query: Query) => GET('/event-logs', { params: { query } }),
  print: inColumns(COLUMNS),
})

const dataOf = (text: string): Record<string, unknown> => {
  const data = parsed(text)
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data }
  throw new CliError(EXIT.usage, 'the data must be a JSON object, for example \'{"host": "example.com"}\'')
}

const parsed = (text: string): unknown => valueOr<unknown>(() => JSON.parse(text), undefined)

interface Emitted {
  readonly topic: string
  readonly data?: string
  readonly source?: string
  readonly data_type?: string
}

const emitCommand = verb('emit', 'Emit an event and start the workflows that it triggers.', {
  fields: {
    topic: ['<topic>', 'for example custom.build'],
    data: ['[data]', 'JSON object (default: "{}")'],
    source: ['--source <name>', 'source of the event (default: api)'],
    data_type: ['--data-type <word>', 'type of the data (default: by topic)'],
  },
  call: ({ POST }, { data = '{}', ...event }: Emitted) =>
    POST('/events/emit', { body: { ...event, data: dataOf(data) } }),
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
  addFields(clientCommand('follow', 'Print events as they happen, until it is interrupted.'), FILTERS).action(
    async (options: ClientOptions & CommandOptions) => {
      const { run_id: runId, ...filters } = fieldsOf<Query>(FILTERS, options)
      await connect(terminal, options).with(async ({ events }) => {
        for await (const event of events({ ...filters, runId })) printEvent(terminal, options, event)
      })
    },
  )

export const eventsCommand = noun('events', 'List, follow and emit events.', [
  listCommand,
  followCommand,
  emitCommand,
])
