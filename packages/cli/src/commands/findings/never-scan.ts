import type { NeverScan } from '@scanfarm/contracts'
import { text as textOf } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import { actionOn } from '../../client/answer.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { readBlob } from '../../client/files.ts'
import { cut, printJson, printTable, type Column } from '../../client/table.ts'
import { addWorkflow, idArgument } from '../../options.ts'
import { standardInput } from '../../scan/target-lines.ts'
import { printLine, type Terminal } from '../../terminal.ts'

const ENTRIES: readonly Column<NeverScan>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'ENTRY', value: ({ entry }) => cut(entry, 32) },
  { title: 'UNTIL', value: ({ until }) => until?.slice(0, 16) ?? '' },
  { title: 'WORKFLOW', value: ({ workflow }) => cut(workflow, 16) },
  { title: 'REASON', value: ({ reason }) => reason },
]
const LISTED = 10_000

interface ListOptions extends ClientOptions {
  readonly search?: string
}

const listEntries = (terminal: Terminal): Command =>
  clientCommand('list', 'List what no run may scan.')
    .option('--search <text>', 'part of an entry or a reason')
    .action(async (options: ListOptions) => {
      const { search } = options
      const query = { limit: LISTED, ...(search === undefined ? {} : { search }) }
      const { data, pagination } = await connect(terminal, options).call(({ GET }) =>
        GET('/never-scan', { params: { query } }),
      )
      if (wantsJson(options)) return printJson(terminal, data)
      printTable(terminal, ENTRIES, data)
      if (pagination.total > data.length)
        printLine(terminal, `the first ${data.length} of ${pagination.total}: use --search`)
    })

interface AddOptions extends ClientOptions {
  readonly reason: string
  readonly until?: string
  readonly workflow?: string
}

const withReason = (command: Command): Command =>
  addWorkflow(command, new Option('--workflow <name>', 'only for runs of this flow or module'))
    .requiredOption('--reason <text>', 'why')
    .option('--until <time>', 'when it ends: a date, or RFC 3339; default: never')

const shared = ({ reason, until, workflow }: AddOptions) => ({
  reason,
  ...(until === undefined ? {} : { until }),
  ...(workflow === undefined ? {} : { workflow }),
})

const addEntry = (terminal: Terminal): Command =>
  withReason(clientCommand('add', 'Forbid a host, a domain with all below it, or a network to all runs.'))
    .argument('<entry>', 'host, domain or network')
    .action(async (entry: string, options: AddOptions) => {
      const body = { entry, ...shared(options) }
      const { data } = await connect(terminal, options).call(({ POST }) => POST('/never-scan', { body }))
      if (wantsJson(options)) return printJson(terminal, data)
      printLine(terminal, `${data.entry} added with id ${data.id}`)
    })

const importEntries = (terminal: Terminal): Command =>
  withReason(clientCommand('import', 'Add the entries of a file, one in each line, with reasons behind #.'))
    .argument('<file>', 'file; - reads standard input')
    .action(async (file: string, options: AddOptions) => {
      const text = file === '-' ? await textOf(standardInput(terminal)) : await (await readBlob(file)).text()
      const body = { text, ...shared(options) }
      const answer = await connect(terminal, options).call(({ POST }) => POST('/never-scan/import', { body }))
      if (wantsJson(options)) return printJson(terminal, answer)
      printLine(terminal, `${answer.added} added, ${answer.replaced} replaced`)
    })

const removeEntry = (terminal: Terminal): Command =>
  clientCommand('remove', 'Remove an entry.')
    .argument('<entry>', 'the entry, or its id', idArgument)
    .action(
      actionOn(
        terminal,
        ({ DELETE }, id) => DELETE('/never-scan/{id}', { params: { path: { id } } }),
        (_, id) => printLine(terminal, `entry ${id} removed`),
      ),
    )

export const neverScanCommand = (terminal: Terminal): Command =>
  new Command('never-scan')
    .description('What no run may scan.')
    .addCommand(listEntries(terminal))
    .addCommand(addEntry(terminal))
    .addCommand(importEntries(terminal))
    .addCommand(removeEntry(terminal))
