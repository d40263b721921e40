import type { ApiToken, Role } from '@scanfarm/contracts'
import { createLogger } from '@scanfarm/platform'
import { Option, type Command } from 'commander'
import type { QueryOf } from '../../client/api.ts'
import { clientCommand, connect, printAnswer, type ClientOptions } from '../../client/connect.ts'
import { inColumns, PAGE } from '../../client/page.ts'
import type { Column } from '../../client/table.ts'
import { idField, verb, type Id } from '../../client/verb.ts'
import { noun } from '../../noun.ts'
import { wholeNumber } from '../../options.ts'
import { loadSettings } from '../../settings.ts'
import { printLine, type Terminal } from '../../terminal.ts'

interface CreateOptions extends ClientOptions {
  readonly role: Role
  readonly days?: number
  readonly direct?: boolean
}

const DAY_MS = 86_400_000

const expiry = (count: number | undefined): Date | undefined =>
  count === undefined ? undefined : new Date(Date.now() + count * DAY_MS)

const issueDirectly = async (
  terminal: Terminal,
  name: string,
  { config: file, role, days }: CreateOptions,
): Promise<string> => {
  const { config } = loadSettings(terminal, file)
  const { issueToken } = await import('@scanfarm/server/operations')
  const log = createLogger({ level: 'warn', stream: terminal.err })
  return await issueToken(config, { name, role, expiresAt: expiry(days) ?? null }, log)
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
      const body = { name, role: options.role, expires_at: expiry(options.days)?.toISOString() }
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

const listCommand = verb('list', 'List the API tokens, without the tokens themselves.', {
  fields: PAGE,
  call: ({ GET }, query: QueryOf<'/tokens'>) => GET('/tokens', { params: { query } }),
  print: inColumns(COLUMNS),
})

const removeCommand = verb('remove', 'Delete an API token.', {
  fields: idField('<token>', 'name or number'),
  call: ({ DELETE }, path: Id) => DELETE('/tokens/{id}', { params: { path } }),
})

export const tokenCommand = noun('token', 'Create, list and delete API tokens.', [
  createCommand,
  listCommand,
  removeCommand,
])
