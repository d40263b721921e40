import type { Scope } from '@scanfarm/contracts'
import type { BodyOf, QueryOf } from '../../client/api.ts'
import type { FieldsOf } from '../../client/fields.ts'
import { inColumns } from '../../client/page.ts'
import { cut, printFields } from '../../client/table.ts'
import { dataOf, verb } from '../../client/verb.ts'
import { CliError, EXIT } from '../../exit.ts'
import { noun } from '../../noun.ts'
import { collect, flowOrModule, idArgument } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { LIMIT, limitsOf, limitsText } from '../operation/limits.ts'

type Change = BodyOf<'/scopes/{name}', 'patch'>
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

const FIELDS = {
  allowed: [
    '--allow <entry>',
    'host, *.domain, network, URL prefix or *, also with :PORTS; repeatable',
    collect,
  ],
  denied: ['--deny <entry>', 'the same; wins over what is allowed; repeatable', collect],
  owner: ['--owner <name>', 'who answers for it'],
  note: ['--note <text>', 'note'],
  valid_from: ['--from <time>', 'when it begins: a date, or RFC 3339'],
  valid_until: ['--until <time>', 'when it ends'],
  windows: ['--window <times>', 'when runs may scan, like "mon,tue 22:00-06:00"; repeatable', collect],
  zone: ['--zone <name>', 'time zone of the windows, like Europe/Berlin; default UTC'],
  limits: LIMIT,
  workspaces: ['--workspace <name>', 'workspace whose runs keep to it; repeatable', collect],
  enforcement: [
    '--enforcement <how>',
    'kernel: commands run only where the kernel sends nothing but to what is allowed; checked: anywhere',
    ['checked', 'kernel'],
  ],
} as const satisfies FieldsOf<Change>

/** As the command line has it: windows and limits are texts. */
type Given = Omit<Change, 'windows' | 'limits'> & {
  readonly windows?: readonly string[]
  readonly limits?: readonly string[]
}

const changeOf = ({ windows, limits, ...others }: Given): Change => ({
  ...others,
  ...(windows === undefined ? {} : { windows: windows.map(windowOf) }),
  ...(limits === undefined ? {} : { limits: limitsOf(limits) }),
})

const NAME = { name: ['<name>', 'name of the scope', idArgument] } as const

interface Name {
  readonly name: string
}

const listScopes = verb('list', 'List the scopes.', {
  call: ({ GET }) => dataOf(GET('/scopes')),
  print: inColumns<Scope>([
    { title: 'NAME', value: ({ name }) => cut(name, 20) },
    { title: 'ALLOWED', value: ({ allowed }) => cut(allowed.join(' '), 30) },
    { title: 'DENIED', value: ({ denied }) => denied.length },
    { title: 'UNTIL', value: ({ valid_until }) => valid_until?.slice(0, 16) ?? '' },
    { title: 'OWNER', value: ({ owner }) => cut(owner, 16) },
  ]),
})

const print = (terminal: Terminal, scope: Scope): void =>
  printFields(terminal, {
    ...scope,
    allowed: scope.allowed.join(' '),
    denied: scope.denied.join(' '),
    windows: scope.windows.map(windowText).join('; '),
    limits: limitsText(scope.limits),
    workspaces: scope.workspaces.join(' '),
  })

const showScope = verb('show', 'Show a scope.', {
  fields: NAME,
  call: ({ GET }, path: Name) => dataOf(GET('/scopes/{name}', { params: { path } })),
  print,
})

const createScope = verb('create', 'Create a scope: what its runs may scan.', {
  fields: { name: ['<name>', 'name of the scope'], ...FIELDS },
  more: (command) => command.alias('add'),
  call({ POST }, { name, ...given }: Given & Name) {
    const { allowed, ...rest } = changeOf(given)
    if (allowed === undefined)
      throw new CliError(EXIT.usage, 'name what is allowed with --allow; --allow "*" allows everything')
    return dataOf(POST('/scopes', { body: { ...rest, name, allowed } }))
  },
  print,
})

const changeScope = verb('change', 'Change a scope. Lists that are given replace those that it has.', {
  fields: { ...NAME, ...FIELDS },
  call({ PATCH }, { name, ...given }: Given & Name) {
    const body = changeOf(given)
    if (Object.keys(body).length === 0)
      throw new CliError(EXIT.usage, 'nothing to change: give --allow, --deny or another option')
    return dataOf(PATCH('/scopes/{name}', { params: { path: { name } }, body }))
  },
  print,
})

const removeScope = verb('remove', 'Remove a scope.', {
  fields: NAME,
  call: ({ DELETE }, path: Name) => DELETE('/scopes/{name}', { params: { path } }),
  print: (terminal, _, { name }) => printLine(terminal, `scope ${name} removed`),
})

const checkTarget = verb('check', 'Say whether a target may be scanned, and why not.', {
  fields: {
    target: ['<target>', 'target'],
    workflow: [
      '--workflow <name>',
      'flow or module, for entries of the never-scan list that are for one',
      flowOrModule,
    ],
    scope: ['--scope <name>', 'scope of the request; default: that of the workspace alone'],
    workspace: ['--workspace <name>', 'workspace; default: that of the target'],
  },
  call: ({ GET }, query: QueryOf<'/scope-check'>) => GET('/scope-check', { params: { query } }),
  print: (terminal, { allowed, reason }) => printLine(terminal, allowed ? 'allowed' : `refused: ${reason}`),
  check({ allowed }, { target }) {
    if (!allowed) throw new CliError(EXIT.failed, `${target} may not be scanned now`)
  },
})

export const scopesCommand = noun('scopes', 'What runs may scan.', [
  listScopes,
  showScope,
  createScope,
  changeScope,
  removeScope,
  checkTarget,
])
