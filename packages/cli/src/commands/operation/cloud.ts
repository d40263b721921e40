import type { CloudInfra, CloudInstance } from '@scanfarm/contracts'
import { Command } from 'commander'
import type { QueryOf } from '../../client/api.ts'
import { printAnswer } from '../../client/answer.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { printFields, printJson, printTable, type Column } from '../../client/table.ts'
import { readInfra, waitForInfra } from '../../client/wait.ts'
import { CliError, EXIT } from '../../exit.ts'
import { collect, idArgument, wholeNumber } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { paged, printPage, type PageOptions } from '../lists.ts'

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

interface ListOptions
  extends ClientOptions, Pick<QueryOf<'/cloud/instances'>, 'status' | 'provider'>, PageOptions {}

const listCommand = (terminal: Terminal): Command =>
  paged(clientCommand('list', 'List infrastructures, newest first.'))
    .option('--status <status>', 'requested, provisioning, ready, draining, destroyed or failed')
    .option('--provider <name>', 'infrastructures of this provider')
    .action(async (options: ListOptions) => {
      const { status, provider, limit, offset } = options
      const params = { query: { status, provider, limit, offset } }
      const page = await connect(terminal, options).call(({ GET }) => GET('/cloud/instances', { params }))
      printPage(terminal, options, page, INFRA_COLUMNS)
    })

const showInfra = (terminal: Terminal, options: ClientOptions, infra: CloudInfra): void => {
  if (wantsJson(options)) return printJson(terminal, infra)
  const { details, ...fields } = infra
  printFields(terminal, fields)
  printLine(terminal, '')
  printTable(terminal, MACHINE_COLUMNS, details)
}

const showCommand = (terminal: Terminal): Command =>
  clientCommand('show', 'Show an infrastructure and its machines.')
    .argument('<id>', 'id of the infrastructure', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const api = connect(terminal, options)
      showInfra(terminal, options, await readInfra(api, id))
    })

interface MachineOptions extends ClientOptions {
  readonly provider?: QueryOf<'/cloud/instances'>['provider']
  readonly instances?: number
  readonly instanceType?: string
  readonly region?: string
  readonly spot?: boolean
  readonly hours?: number
}

/** A command with the options of an infrastructure request. */
const machineCommand = (name: string, description: string): Command =>
  clientCommand(name, description)
    .option('--provider <name>', 'provider; default: that of the server')
    .option('--instances <count>', 'number of machines', wholeNumber)
    .option('--instance-type <type>', 'type of machine')
    .option('--region <region>', 'region of the machines')
    .option('--spot', 'cheaper machines, which the provider may interrupt')
    .option(
      '--hours <count>',
      'destroy the machines after this many hours, even if runs have not ended',
      wholeNumber,
    )

const requestOf = ({ provider, instances, instanceType, region, spot, hours }: MachineOptions) => ({
  provider,
  instances,
  instance_type: instanceType,
  region,
  use_spot: spot,
  hours,
})

interface CreateOptions extends MachineOptions {
  readonly autoDestroy?: boolean
  readonly tool?: string[]
  readonly wait?: boolean
}

const createCommand = (terminal: Terminal): Command =>
  machineCommand('create', 'Create machines at a cloud provider.')
    .option('--tool <name>', 'program that must be installed on the machines; repeatable', collect)
    .option('--auto-destroy', 'destroy the machines after the last run of all jobs that use them')
    .option('--wait', 'wait until the machines are ready for runs; exit code 1 if none is')
    .action(async (options: CreateOptions) => {
      const api = connect(terminal, options)
      const body = { ...requestOf(options), auto_destroy: options.autoDestroy, tools: options.tool }
      const made = await api.call(({ POST }) => POST('/cloud/instances', { body }))
      if (!options.wait) return printAnswer(terminal, options, made)
      const infra = await waitForInfra(terminal, api, made.infra_id, [
        'ready',
        'failed',
        'draining',
        'destroyed',
      ])
      showInfra(terminal, options, infra)
      if (infra.status !== 'ready')
        throw new CliError(EXIT.failed, `the infrastructure is ${infra.status}: ${infra.message}`)
    })

interface DestroyOptions extends ClientOptions {
  readonly wait?: boolean
}

const destroyCommand = (terminal: Terminal): Command =>
  clientCommand('destroy', 'Destroy the machines of an infrastructure; its runs are cancelled.')
    .argument('<id>', 'id of the infrastructure', idArgument)
    .option('--wait', 'wait until the machines are destroyed')
    .action(async (id: string, options: DestroyOptions) => {
      const api = connect(terminal, options)
      const params = { path: { infra_id: id } }
      const answer = await api.call(({ DELETE }) => DELETE('/cloud/instances/{infra_id}', { params }))
      if (!options.wait) return printAnswer(terminal, options, answer)
      showInfra(terminal, options, await waitForInfra(terminal, api, id, ['destroyed', 'failed']))
    })

const providersCommand = (terminal: Terminal): Command =>
  clientCommand('providers', 'List the cloud providers, and whether they accept the credentials.').action(
    async (options: ClientOptions) => {
      const answer = await connect(terminal, options).call(({ GET }) => GET('/cloud/providers'))
      if (wantsJson(options)) return printJson(terminal, answer)
      printTable(
        terminal,
        [
          { title: 'PROVIDER', value: (one) => one.name },
          { title: 'DEFAULT', value: (one) => (one.is_default ? 'yes' : '') },
          { title: 'STATUS', value: (one) => one.status },
          { title: 'MESSAGE', value: (one) => one.message },
        ],
        answer.providers,
      )
    },
  )

const estimateCommand = (terminal: Terminal): Command =>
  machineCommand('estimate', 'Estimate the cost of machines. Creates nothing.').action(
    async (options: MachineOptions) => {
      const api = connect(terminal, options)
      const body = requestOf(options)
      const answer = await api.call(({ POST }) => POST('/cloud/estimate', { body }))
      printAnswer(terminal, options, answer)
    },
  )

export const cloudCommand = (terminal: Terminal): Command =>
  new Command('cloud')
    .description('Create, list and destroy machines at cloud providers.')
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(createCommand(terminal))
    .addCommand(destroyCommand(terminal))
    .addCommand(providersCommand(terminal))
    .addCommand(estimateCommand(terminal))
