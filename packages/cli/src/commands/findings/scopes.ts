import type { Scope } from '@scanfarm/contracts'
import type { paths } from '@scanfarm/client'
import { Command, Option } from 'commander'
import { actionOn } from '../../client/answer.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { cut, printFields, printJson, printTable, type Column } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { addWorkflow, collect, idArgument } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { LIMIT_HELP, LIMIT_OPTION, limitsOf, limitsText } from '../operation/limits.ts'

type Change = paths['/scopes/{name}']['patch']['requestBody']['content']['application/json']
type Window = Scope['windows'][number]

const WINDOW =
  /^(?:((?:mon|tue|wed|thu|fri|sat|sun)(?:,(?:mon|tue|wed|thu|fri|sat|sun))*) )?(\d\d:\d\d)-(\d\d:\d\d)$/

const windowText = ({ days, from, to }: Window): string =>
  `${days === undefined ? '' : `${days.join(',')} `}${from}-${to}`

const windowOf = (text: string): Window => {
  const [match, days, from = '', to = ''] = WINDOW.exec(text) ?? []
  if (match === undefined)
    throw new CliError(EXIT.usage, `--window ${text}: write it like 22:00-06:00 or "mon,tue,wed 22:00-06:00"`)
  return { ...(days === undefined ? {} : { days: days.split(',') as Window['days'] }), from, to }
}

interface ScopeOptions extends ClientOptions {
  readonly allow?: string[]
  readonly deny?: string[]
  readonly owner?: string
  readonly note?: string
  readonly from?: string
  readonly until?: string
  readonly window?: string[]
  readonly zone?: string
  readonly limit?: string[]
  readonly workspace?: string[]
  readonly enforcement?: 'checked' | 'kernel'
}

const withFields = (command: Command): Command =>
  command
    .option(
      '--allow <entry>',
      'host, *.domain, network, URL prefix or *, also with :PORTS; repeatable',
      collect,
    )
    .option('--deny <entry>', 'the same; wins over what is allowed; repeatable', collect)
    .option('--owner <name>', 'who answers for it')
    .option('--note <text>', 'note')
    .option('--from <time>', 'when it begins: a date, or RFC 3339')
    .option('--until <time>', 'when it ends')
    .option('--window <times>', 'when runs may scan, like "mon,tue 22:00-06:00"; repeatable', collect)
    .option('--zone <name>', 'time zone of the windows, like Europe/Berlin; default UTC')
    .option(LIMIT_OPTION, LIMIT_HELP, collect)
    .option('--workspace <name>', 'workspace whose runs keep to it; repeatable', collect)
    .addOption(
      new Option(
        '--enforcement <how>',
        'kernel: commands run only where the kernel sends nothing but to what is allowed; checked: anywhere',
      ).choices(['checked', 'kernel']),
    )

const changeOf = ({
  allow,
  deny,
  owner,
  note,
  from,
  until,
  window,
  zone,
  limit,
  workspace,
  enforcement,
}: ScopeOptions): Change =>
  Object.fromEntries(
    Object.entries({
      allowed: allow,
      denied: deny,
      owner,
      note,
      valid_from: from,
      valid_until: until,
      windows: window?.map(windowOf),
      zone,
      limits: limit && limitsOf(limit),
      workspaces: workspace,
      enforcement,
    }).filter(([, value]) => value !== undefined),
  )

const SCOPES: readonly Column<Scope>[] = [
  { title: 'NAME', value: ({ name }) => cut(name, 20) },
  { title: 'ALLOWED', value: ({ allowed }) => cut(allowed.join(' '), 30) },
  { title: 'DENIED', value: ({ denied }) => denied.length },
  { title: 'UNTIL', value: ({ valid_until }) => valid_until?.slice(0, 16) ?? '' },
  { title: 'OWNER', value: ({ owner }) => cut(owner, 16) },
]

const listScopes = (terminal: Terminal): Command =>
  clientCommand('list', 'List the scopes.').action(async (options: ClientOptions) => {
    const { data } = await connect(terminal, options).call(({ GET }) => GET('/scopes'))
    if (wantsJson(options)) return printJson(terminal, data)
    printTable(terminal, SCOPES, data)
  })

const printScope = (terminal: Terminal, options: ClientOptions, scope: Scope): void => {
  if (wantsJson(options)) return printJson(terminal, scope)
  printFields(terminal, {
    ...scope,
    allowed: scope.allowed.join(' '),
    denied: scope.denied.join(' '),
    windows: scope.windows.map(windowText).join('; '),
    limits: limitsText(scope.limits),
    workspaces: scope.workspaces.join(' '),
  })
}

const showScope = (terminal: Terminal): Command =>
  clientCommand('show', 'Show a scope.')
    .argument('<name>', 'name of the scope', idArgument)
    .action(async (name: string, options: ClientOptions) => {
      const params = { path: { name } }
      const { data } = await connect(terminal, options).call(({ GET }) => GET('/scopes/{name}', { params }))
      printScope(terminal, options, data)
    })

const createScope = (terminal: Terminal): Command =>
  withFields(clientCommand('create', 'Create a scope: what its runs may scan.').alias('add'))
    .argument('<name>', 'name of the scope')
    .action(async (name: string, options: ScopeOptions) => {
      const { allowed, ...rest } = changeOf(options)
      if (allowed === undefined)
        throw new CliError(EXIT.usage, 'name what is allowed with --allow; --allow "*" allows everything')
      const body = { ...rest, name, allowed }
      const { data } = await connect(terminal, options).call(({ POST }) => POST('/scopes', { body }))
      printScope(terminal, options, data)
    })

const changeScope = (terminal: Terminal): Command =>
  withFields(clientCommand('change', 'Change a scope. Lists that are given replace those that it has.'))
    .argument('<name>', 'name of the scope', idArgument)
    .action(async (name: string, options: ScopeOptions) => {
      const body = changeOf(options)
      if (Object.keys(body).length === 0)
        throw new CliError(EXIT.usage, 'nothing to change: give --allow, --deny or another option')
      const params = { path: { name } }
      const { data } = await connect(terminal, options).call(({ PATCH }) =>
        PATCH('/scopes/{name}', { params, body }),
      )
      printScope(terminal, options, data)
    })

const removeScope = (terminal: Terminal): Command =>
  clientCommand('remove', 'Remove a scope.')
    .argument('<name>', 'name of the scope', idArgument)
    .action(
      actionOn(
        terminal,
        ({ DELETE }, name) => DELETE('/scopes/{name}', { params: { path: { name } } }),
        (_, name) => printLine(terminal, `scope ${name} removed`),
      ),
    )

interface CheckOptions extends ClientOptions {
  readonly scope?: string
  readonly workspace?: string
  readonly workflow?: string
}

const checkTarget = (terminal: Terminal): Command =>
  addWorkflow(
    clientCommand('check', 'Say whether a target may be scanned, and why not.'),
    new Option('--workflow <name>', 'flow or module, for entries of the never-scan list that are for one'),
  )
    .argument('<target>', 'target')
    .option('--scope <name>', 'scope of the request; default: that of the workspace alone')
    .option('--workspace <name>', 'workspace; default: that of the target')
    .action(async (target: string, options: CheckOptions) => {
      const { scope, workspace, workflow } = options
      const query = {
        target,
        ...(scope === undefined ? {} : { scope }),
        ...(workspace === undefined ? {} : { workspace }),
        ...(workflow === undefined ? {} : { workflow }),
      }
      const answer = await connect(terminal, options).call(({ GET }) =>
        GET('/scope-check', { params: { query } }),
      )
      if (wantsJson(options)) printJson(terminal, answer)
      else printLine(terminal, answer.allowed ? 'allowed' : `refused: ${answer.reason}`)
      if (!answer.allowed) throw new CliError(EXIT.failed, `${target} may not be scanned now`)
    })

export const scopesCommand = (terminal: Terminal): Command =>
  new Command('scopes')
    .description('What runs may scan.')
    .addCommand(listScopes(terminal))
    .addCommand(showScope(terminal))
    .addCommand(createScope(terminal))
    .addCommand(changeScope(terminal))
    .addCommand(removeScope(terminal))
    .addCommand(checkTarget(terminal))
