import type { ApiToken, Role } from '@scanfarm/contracts'
import { createLogger } from '@scanfarm/platform'
import { Command, Option } from 'commander'
import { actionOn, printAnswer } from '../../client/answer.ts'
import { clientCommand, connect, type ClientOptions } from '../../client/connect.ts'
import type { Column } from '../../client/table.ts'
import { idArgument, wholeNumber } from '../../options.ts'
import { loadSettings } from '../../settings.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { paged, printPage, type PageOptions } from '../lists.ts'

interface CreateOptions extends ClientOptions {
  readonly role: Role
  readonly days?: number
  readonly direct?: boolean
}

const DAY_MS = 86_400_000

const expiry = (count: number | undefined): string | undefined =>
  count === undefined ? undefined : new Date(Date.now() + count * DAY_MS).toISOString()

const issueDirectly = async (
  terminal: Terminal,
  name: string,
  { config: file, role, days }: CreateOptions,
): Promise<string> => {
  const { config } = loadSettings(terminal, file)
  const { issueToken } = await import('@scanfarm/server/operations')
  const log = createLogger({ level: 'warn', stream: terminal.err })
  const until = expiry(days)
  return await issueToken(
    config,
    { name, role, expiresAt: until === undefined ? null : new Date(until) },
    log,
  )
}

const createCommand = (terminal: Terminal): Command =>
  clientCommand('create', 'Create an API token and print it. It cannot be read again.')
    .argument('<name>', 'name of the token')
    .addOption(
      new Option('--role <role>', 'role of the token')
        .choices(['viewer', 'operator', 'admin'])
        .default('operator'),
    )
    .option('--days <count>', 'expire the token after this many days', wholeNumber)
    .option('--direct', 'write the token to the database of the settings, for example if all tokens are lost')
    .action(async (name: string, options: CreateOptions) => {
      if (options.direct) return printLine(terminal, await issueDirectly(terminal, name, options))
      const body = { name, role: options.role, expires_at: expiry(options.days) }
      const answer = await connect(terminal, options).call(({ POST }) => POST('/tokens', { body }))
      printAnswer(terminal, options, answer, ({ token }) => printLine(terminal, token))
    })

const COLUMNS: readonly Column<ApiToken>[] = [
  { title: 'ID', value: (token) => token.id },
  { title: 'ROLE', value: (token) => token.role },
  { title: 'EXPIRES', value: (token) => token.expires_at ?? 'never' },
  { title: 'LAST USED', value: (token) => token.last_used_at ?? 'never' },
  { title: 'NAME', value: (token) => token.name },
]

const listCommand = (terminal: Terminal): Command =>
  paged(clientCommand('list', 'List the API tokens, without the tokens themselves.')).action(
    async (options: ClientOptions & PageOptions) => {
      const { limit, offset } = options
      const params = { query: { limit, offset } }
      const page = await connect(terminal, options).call(({ GET }) => GET('/tokens', { params }))
      printPage(terminal, options, page, COLUMNS)
    },
  )

const removeCommand = (terminal: Terminal): Command =>
  clientCommand('remove', 'Delete an API token.')
    .argument('<token>', 'name or number', idArgument)
    .action(actionOn(terminal, ({ DELETE }, id) => DELETE('/tokens/{id}', { params: { path: { id } } })))

export const tokenCommand = (terminal: Terminal): Command =>
  new Command('token')
    .description('Create, list and delete API tokens.')
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(removeCommand(terminal))
