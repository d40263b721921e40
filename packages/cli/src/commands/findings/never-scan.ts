import type { NeverScan } from '@scanfarm/contracts'
import { text as textOf } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { BodyOf, QueryOf } from '../../client/api.ts'
import { clientCommand, connect, printAnswer, type ClientOptions } from '../../client/connect.ts'
import { addFields, fieldsOf, type CommandOptions, type FieldsOf } from '../../client/fields.ts'
import { readBlob } from '../../client/files.ts'
import { cut, printTable, type Column } from '../../client/table.ts'
import { dataOf, idField, verb, type Id } from '../../client/verb.ts'
import { noun } from '../../noun.ts'
import { flowOrModule } from '../../options.ts'
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

const SEARCH = { search: ['--search <text>', 'part of an entry or a reason'] } as const

const listEntries = (terminal: Terminal): Command =>
  addFields(clientCommand('list', 'List what no run may scan.'), SEARCH).action(
    async (options: ClientOptions & CommandOptions) => {
      const query = { limit: LISTED, ...fieldsOf<QueryOf<'/never-scan'>>(SEARCH, options) }
      const { data, pagination } = await connect(terminal, options).call(({ GET }) =>
        GET('/never-scan', { params: { query } }),
      )
      printAnswer(terminal, options, data, () => {
        printTable(terminal, ENTRIES, data)
        if (pagination.total > data.length)
          printLine(terminal, `the first ${data.length} of ${pagination.total}: use --search`)
      })
    },
  )

type Entry = BodyOf<'/never-scan'>

const SHARED = {
  workflow: ['--workflow <name>', 'only for runs of this flow or module', flowOrModule],
  reason: ['--reason <text>', 'why', undefined, { required: true }],
  until: ['--until <time>', 'when it ends: a date, or RFC 3339; default: never'],
} as const satisfies FieldsOf<Entry>

const addEntry = verb('add', 'Forbid a host, a domain with all below it, or a network to all runs.', {
  fields: { entry: ['<entry>', 'host, domain or network'], ...SHARED },
  call: ({ POST }, body: Entry) => dataOf(POST('/never-scan', { body })),
  print: (terminal, { entry, id }) => printLine(terminal, `${entry} added with id ${id}`),
})

const importEntries = verb('import', 'Add the entries of a file, one in each line, with reasons behind #.', {
  fields: { file: ['<file>', 'file; - reads standard input'], ...SHARED },
  async call({ POST }, { file, ...shared }: Omit<Entry, 'entry'> & { readonly file: string }, terminal) {
    const text = file === '-' ? await textOf(standardInput(terminal)) : await (await readBlob(file)).text()
    return await POST('/never-scan/import', { body: { text, ...shared } })
  },
  print: (terminal, { added, replaced }) => printLine(terminal, `${added} added, ${replaced} replaced`),
})

const removeEntry = verb('remove', 'Remove an entry.', {
  fields: idField('<entry>', 'the entry, or its id'),
  call: ({ DELETE }, path: Id) => DELETE('/never-scan/{id}', { params: { path } }),
  print: (terminal, _, { id }) => printLine(terminal, `entry ${id} removed`),
})

export const neverScanCommand = noun('never-scan', 'What no run may scan.', [
  listEntries,
  addEntry,
  importEntries,
  removeEntry,
])
