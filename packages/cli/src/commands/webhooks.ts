import type { ItemOf, paths } from '@scanfarm/client'
import { SEVERITIES } from '@scanfarm/contracts'
import { Command, Option } from 'commander'
import { actionOn, printAnswer, printWarnings } from '../client/answer.ts'
import { clientCommand, connect, type ClientOptions } from '../client/connect.ts'
import type { Api } from '../client/api.ts'
import { printRow, shortTime, type Column } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { collect, idArgument } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { paged, printPage, type PageOptions } from './lists.ts'

type Body = paths['/webhook-subscriptions']['post']['requestBody']['content']['application/json']
type Severity = (typeof SEVERITIES)[number]
type Subscription = Awaited<ReturnType<typeof all>>[number]
type Delivery = ItemOf<'/webhook-deliveries'>

const all = async (api: Api) => (await api.call(({ GET }) => GET('/webhook-subscriptions'))).data

const COLUMNS: readonly Column<Subscription>[] = [
  { title: 'ID', value: (one) => one.id },
  { title: 'NAME', value: (one) => one.name },
  { title: 'FORMAT', value: (one) => one.format },
  { title: 'ENABLED', value: (one) => (one.enabled ? 'yes' : 'no') },
  { title: 'TOPICS', value: (one) => one.topics.join(' ') },
  { title: 'URL', value: (one) => one.url },
]

const listCommand = (terminal: Terminal): Command =>
  clientCommand('list', 'List the subscriptions.').action(async (options: ClientOptions) => {
    printPage(terminal, options, { data: await all(connect(terminal, options)) }, COLUMNS)
  })

interface AddOptions extends ClientOptions {
  readonly topic?: string[]
  readonly filter?: string[]
  readonly format: Body['format']
  readonly minSeverity?: Severity
  readonly template?: string
  readonly report?: boolean
}

/** What a person wants to hear of by default. */
const NIGHTS = ['schedule.ended']

const createCommand = (terminal: Terminal): Command =>
  clientCommand('create', 'Send events to a URL, a chat or by mail. Prints the secret of the signature once.')
    .alias('add')
    .argument('<name>', 'name of the subscription')
    .argument('<url>', 'URL, or mailto:ops@example.com')
    .option('--topic <glob>', 'topic or glob; repeatable; default schedule.ended', collect)
    .option('--filter <expression>', 'expression that must be true; repeatable', collect)
    .addOption(
      new Option('--format <format>', 'form of the message')
        .choices(['json', 'slack', 'discord', 'teams', 'mail'])
        .default('json'),
    )
    .addOption(
      new Option('--min-severity <severity>', 'only if a finding is at least this severe').choices(
        SEVERITIES,
      ),
    )
    .option('--template <text>', 'text of the message, for example "{{event_data.schedule}} ended"')
    .option('--report', 'attach the report of the job to mails')
    .action(async (name: string, url: string, options: AddOptions) => {
      const { topic: topics = NIGHTS, filter: filters = [], format, minSeverity, template, report } = options
      const body = {
        name,
        url,
        topics,
        filters,
        format: url.startsWith('mailto:') ? 'mail' : format,
        ...(minSeverity === undefined ? {} : { min_severity: minSeverity }),
        ...(template === undefined ? {} : { template }),
        ...(report === true ? { report } : {}),
      } as const
      const { data, secret, warnings } = await connect(terminal, options).call(({ POST }) =>
        POST('/webhook-subscriptions', { body }),
      )
      printWarnings(terminal, warnings)
      const fields = [...COLUMNS, { title: 'SECRET', value: () => secret }]
      printAnswer(terminal, options, { ...data, secret }, (it) => printRow(terminal, fields, it))
    })

const testCommand = (terminal: Terminal): Command =>
  clientCommand('test', 'Send an example of job.ended; exit code 1 if it does not arrive.')
    .argument('<subscription>', 'name or id', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const api = connect(terminal, options)
      const params = { path: { id } }
      const sent = await api.call(({ POST }) => POST('/webhook-subscriptions/{id}/test', { params }))
      printAnswer(terminal, options, sent)
      if (!sent.delivered) throw new CliError(EXIT.failed, `the example did not arrive: ${sent.problem}`)
    })

const removeCommand = (terminal: Terminal): Command =>
  clientCommand('remove', 'Delete a subscription and its deliveries.')
    .argument('<subscription>', 'name or id', idArgument)
    .action(
      actionOn(terminal, ({ DELETE }, id) =>
        DELETE('/webhook-subscriptions/{id}', { params: { path: { id } } }),
      ),
    )

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

type DeliveriesOptions = ClientOptions & PageOptions & { readonly status?: Delivery['status'] }

const deliveriesCommand = (terminal: Terminal): Command =>
  paged(clientCommand('deliveries', 'List the deliveries, newest first.'))
    .addOption(new Option('--status <status>', 'status').choices(['pending', 'delivered', 'dead']))
    .action(async (options: DeliveriesOptions) => {
      const { status, limit, offset } = options
      const page = await connect(terminal, options).call(({ GET }) =>
        GET('/webhook-deliveries', { params: { query: { status, limit, offset } } }),
      )
      printPage(terminal, options, page, DELIVERIES)
    })

export const webhooksCommand = (terminal: Terminal): Command =>
  new Command('webhooks')
    .alias('notify')
    .description('Send events, for example the end of a night, to URLs, chats and by mail.')
    .addCommand(listCommand(terminal))
    .addCommand(createCommand(terminal))
    .addCommand(testCommand(terminal))
    .addCommand(removeCommand(terminal))
    .addCommand(deliveriesCommand(terminal))
