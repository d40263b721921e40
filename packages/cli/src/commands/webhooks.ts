import type { ItemOf } from '@scanfarm/client'
import { SEVERITIES } from '@scanfarm/contracts'
import type { BodyOf, QueryOf } from '../client/api.ts'
import { printWarnings } from '../client/connect.ts'
import { inColumns, PAGE } from '../client/page.ts'
import { printRow, shortTime, type Column } from '../client/table.ts'
import { idField, verb, type Id } from '../client/verb.ts'
import { CliError, EXIT } from '../exit.ts'
import { noun, type MakeCommand } from '../noun.ts'
import { collect } from '../options.ts'

type Body = BodyOf<'/webhook-subscriptions'>
type Given = Pick<Body, 'name' | 'url'> & Partial<Body>
type Delivery = ItemOf<'/webhook-deliveries'>

const COLUMNS: readonly Column<ItemOf<'/webhook-subscriptions'>>[] = [
  { title: 'ID', value: (one) => one.id },
  { title: 'NAME', value: (one) => one.name },
  { title: 'FORMAT', value: (one) => one.format },
  { title: 'ENABLED', value: (one) => (one.enabled ? 'yes' : 'no') },
  { title: 'TOPICS', value: (one) => one.topics.join(' ') },
  { title: 'URL', value: (one) => one.url },
]

const listCommand = verb('list', 'List the subscriptions.', {
  call: ({ GET }) => GET('/webhook-subscriptions'),
  print: inColumns(COLUMNS),
})

/** What a person wants to hear of by default. */
const NIGHTS = ['schedule.ended']

const createCommand = verb(
  'create',
  'Send events to a URL, a chat or by mail. Prints the secret of the signature once.',
  {
    fields: {
      name: ['<name>', 'name of the subscription'],
      url: ['<url>', 'URL, or mailto:ops@example.com'],
      topics: ['--topic <glob>', 'topic or glob; repeatable; default schedule.ended', collect],
      filters: ['--filter <expression>', 'expression that must be true; repeatable', collect],
      format: [
        '--format <format>',
        'form of the message',
        ['json', 'slack', 'discord', 'teams', 'mail'],
        { default: 'json' },
      ],
      min_severity: ['--min-severity <severity>', 'only if a finding is at least this severe', SEVERITIES],
      template: ['--template <text>', 'text of the message, for example "{{event_data.schedule}} ended"'],
      report: ['--report', 'attach the report of the job to mails'],
    },
    more: (command) => command.alias('add'),
    async call({ POST }, { topics = NIGHTS, filters = [], ...given }: Given, terminal) {
      const mail = given.url.startsWith('mailto:') ? { format: 'mail' as const } : {}
      const body = { topics, filters, ...given, ...mail }
      const { data } = await POST('/webhook-subscriptions', { body })
      printWarnings(terminal, data.warnings)
      return { data: { ...data.data, secret: data.secret } }
    },
    print: (terminal, made) =>
      printRow(terminal, [...COLUMNS, { title: 'SECRET', value: () => made.secret }], made),
  },
)

const SUBSCRIPTION = idField('<subscription>', 'name or id')

const testCommand = verb('test', 'Send an example of job.ended; exit code 1 if it does not arrive.', {
  fields: SUBSCRIPTION,
  call: ({ POST }, path: Id) => POST('/webhook-subscriptions/{id}/test', { params: { path } }),
  check({ delivered, problem }) {
    if (!delivered) throw new CliError(EXIT.failed, `the example did not arrive: ${problem}`)
  },
})

const removeCommand = verb('remove', 'Delete a subscription and its deliveries.', {
  fields: SUBSCRIPTION,
  call: ({ DELETE }, path: Id) => DELETE('/webhook-subscriptions/{id}', { params: { path } }),
})

const DELIVERIES: readonly Column<Delivery>[] = [
  { title: 'ID', value: (one) => one.id },
  { title: 'STATUS', value: (one) => one.status },
  { title: 'TRIES', value: (one) => one.attempts },
  { title: 'ANSWER', value: (one) => one.last_status || '' },
  { title: 'CREATED', value: (one) => shortTime(one.created_at) },
  { title: 'TO', value: (one) => one.subscription },
  { title: 'TOPIC', value: (one) => one.topic },
  { title: 'ERROR', value: (one) => one.last_error },
]

const deliveriesCommand = verb('deliveries', 'List the deliveries, newest first.', {
  fields: { ...PAGE, status: ['--status <status>', 'status', ['pending', 'delivered', 'dead']] },
  call: ({ GET }, query: QueryOf<'/webhook-deliveries'>) => GET('/webhook-deliveries', { params: { query } }),
  print: inColumns(DELIVERIES),
})

const DESCRIPTION = 'Send events, for example the end of a night, to URLs, chats and by mail.'

export const webhooksCommand: MakeCommand = (terminal) =>
  noun('webhooks', DESCRIPTION, [listCommand, createCommand, testCommand, removeCommand, deliveriesCommand])(
    terminal,
  ).alias('notify')
