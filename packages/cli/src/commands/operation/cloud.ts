import type { CloudInfra, CloudInstance } from '@scanfarm/contracts'
import type { Command } from 'commander'
import type { BodyOf, QueryOf } from '../../client/api.ts'
import { clientCommand, connect, printAnswer, type ClientOptions } from '../../client/connect.ts'
import { addFields, fieldsOf, type CommandOptions, type Fields } from '../../client/fields.ts'
import { inColumns, PAGE } from '../../client/page.ts'
import { printFields, printTable, type Column } from '../../client/table.ts'
import { dataOf, verb } from '../../client/verb.ts'
import { waitForInfra } from '../../client/wait.ts'
import { CliError, EXIT } from '../../exit.ts'
import { noun } from '../../noun.ts'
import { collect, idArgument, wholeNumber } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'

const dollars = (amount: number | null): string => (amount === null ? '?' : amount.toFixed(2))

const INFRA_COLUMNS: readonly Column<CloudInfra>[] = [
  { title: 'ID', value: (infra) => infra.infra_id },
  { title: 'STATUS', value: (infra) => infra.status },
  { title: 'PROVIDER', value: (infra) => infra.provider },
  { title: 'REGION', value: (infra) => infra.region },
  { title: 'TYPE', value: (infra) => infra.instance_type },
  { title: 'READY', value: (infra) => `${infra.ready_count}/${infra.total_count}` },
  { title: '$/HOUR', value: (infra) => dollars(infra.hourly_cost) },
  { title: 'EXPIRES', value: (infra) => infra.expires_at },
  { title: 'MESSAGE', value: (infra) => infra.message },
]

const MACHINE_COLUMNS: readonly Column<CloudInstance>[] = [
  { title: 'MACHINE', value: (machine) => machine.name },
  { title: 'STATUS', value: (machine) => machine.status },
  { title: 'RUNS', value: (machine) => machine.running_runs },
  { title: 'ADDRESS', value: (machine) => machine.address },
  { title: 'RESOURCE', value: (machine) => machine.resource_id },
  { title: 'MESSAGE', value: (machine) => machine.message },
]

const listCommand = verb('list', 'List infrastructures, newest first.', {
  fields: {
    ...PAGE,
    status: ['--status <status>', 'requested, provisioning, ready, draining, destroyed or failed'],
    provider: ['--provider <name>', 'infrastructures of this provider'],
  },
  call: ({ GET }, query: QueryOf<'/cloud/instances'>) => GET('/cloud/instances', { params: { query } }),
  print: inColumns(INFRA_COLUMNS),
})

const printInfra = (terminal: Terminal, { details, ...fields }: CloudInfra): void => {
  printFields(terminal, fields)
  printLine(terminal, '')
  printTable(terminal, MACHINE_COLUMNS, details)
}

const showCommand = verb('show', 'Show an infrastructure and its machines.', {
  fields: { infra_id: ['<id>', 'id of the infrastructure', idArgument] },
  call: ({ GET }, path: { readonly infra_id: string }) =>
    dataOf(GET('/cloud/instances/{infra_id}', { params: { path } })),
  print: printInfra,
})

type NewMachines = BodyOf<'/cloud/estimate'>

const MACHINES = {
  provider: ['--provider <name>', 'provider; default: that of the server'],
  instances: ['--instances <count>', 'number of machines', wholeNumber],
  instance_type: ['--instance-type <type>', 'type of machine'],
  region: ['--region <region>', 'region of the machines'],
  use_spot: ['--spot', 'cheaper machines, which the provider may interrupt'],
  hours: [
    '--hours <count>',
    'destroy the machines after this many hours, even if runs have not ended',
    wholeNumber,
  ],
} as const satisfies Partial<Fields<keyof NewMachines>>

const CREATED = {
  ...MACHINES,
  tools: ['--tool <name>', 'program that must be installed on the machines; repeatable', collect],
  auto_destroy: ['--auto-destroy', 'destroy the machines after the last run of all jobs that use them'],
} as const satisfies Partial<Fields<keyof BodyOf<'/cloud/instances'>>>

type WaitOptions = ClientOptions & { readonly wait?: boolean }

const createCommand = (terminal: Terminal): Command =>
  addFields(clientCommand('create', 'Create machines at a cloud provider.'), CREATED)
    .option('--wait', 'wait until the machines are ready for runs; exit code 1 if none is')
    .action(async (options: CommandOptions & WaitOptions) => {
      const api = connect(terminal, options)
      const body = fieldsOf<BodyOf<'/cloud/instances'>>(CREATED, options)
      const made = await api.call(({ POST }) => POST('/cloud/instances', { body }))
      if (!options.wait) return printAnswer(terminal, options, made)
      const ends = ['ready', 'failed', 'draining', 'destroyed'] as const
      const infra = await waitForInfra(terminal, api, made.infra_id, ends)
      printAnswer(terminal, options, infra, (it) => printInfra(terminal, it))
      if (infra.status !== 'ready')
        throw new CliError(EXIT.failed, `the infrastructure is ${infra.status}: ${infra.message}`)
    })

const destroyCommand = (terminal: Terminal): Command =>
  clientCommand('destroy', 'Destroy the machines of an infrastructure; its runs are cancelled.')
    .argument('<id>', 'id of the infrastructure', idArgument)
    .option('--wait', 'wait until the machines are destroyed')
    .action(async (infraId: string, options: WaitOptions) => {
      const api = connect(terminal, options)
      const params = { path: { infra_id: infraId } }
      const answer = await api.call(({ DELETE }) => DELETE('/cloud/instances/{infra_id}', { params }))
      if (!options.wait) return printAnswer(terminal, options, answer)
      const infra = await waitForInfra(terminal, api, infraId, ['destroyed', 'failed'])
      printAnswer(terminal, options, infra, (it) => printInfra(terminal, it))
    })

const providersCommand = verb(
  'providers',
  'List the cloud providers, and whether they accept the credentials.',
  {
    call: ({ GET }) => GET('/cloud/providers'),
    print: (terminal, { providers }) =>
      printTable(
        terminal,
        [
          { title: 'PROVIDER', value: (one) => one.name },
          { title: 'DEFAULT', value: (one) => (one.is_default ? 'yes' : '') },
          { title: 'STATUS', value: (one) => one.status },
          { title: 'MESSAGE', value: (one) => one.message },
        ],
        providers,
      ),
  },
)

const estimateCommand = verb('estimate', 'Estimate the cost of machines. Creates nothing.', {
  fields: MACHINES,
  call: ({ POST }, body: NewMachines) => POST('/cloud/estimate', { body }),
})

export const cloudCommand = noun('cloud', 'Create, list and destroy machines at cloud providers.', [
  listCommand,
  showCommand,
  createCommand,
  destroyCommand,
  providersCommand,
  estimateCommand,
])
