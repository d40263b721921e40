import type { Traffic } from '@scanfarm/contracts'
import type { QueryOf } from '../../client/api.ts'
import { cut, printTable, shortTime, type Column } from '../../client/table.ts'
import { verb } from '../../client/verb.ts'
import { printLine } from '../../terminal.ts'

const COLUMNS: readonly Column<Traffic>[] = [
  { title: 'RUN', value: ({ run_uuid: id }) => id },
  { title: 'STARTED', value: ({ started_at: time }) => shortTime(time) },
  { title: 'ENDED', value: ({ completed_at: time, status }) => (time ? shortTime(time) : status) },
  {
    title: 'AS',
    value: ({ destinations }) =>
      cut(destinations.map(({ place, host }) => `${place} ${host}`).join(', '), 48),
  },
  { title: 'WORKFLOW', value: ({ workflow }) => cut(workflow, 20) },
  { title: 'WORKER', value: ({ worker, hostname }) => cut(`${worker} on ${hostname}`, 32) },
  { title: 'FROM', value: ({ egress_address: address }) => address },
  { title: 'SCOPE', value: ({ scope }) => scope },
]

export const wasItUsCommand = verb(
  'was-it-us',
  'Find the runs that may have sent traffic to a host, with their commands.',
  {
    fields: {
      address: ['<address>', 'address or name of the host'],
      from: ['--from <time>', 'a date, or RFC 3339; default: a day before --to'],
      to: ['--to <time>', 'the same; default: now'],
    },
    call: ({ GET }, query: QueryOf<'/traffic'>) => GET('/traffic', { params: { query } }),
    print(terminal, { data, message }) {
      if (data.length > 0) printTable(terminal, COLUMNS, data)
      for (const { run_uuid: run, steps } of data)
        for (const { name, command, started_at: time } of steps.filter(({ sends_nothing: local }) => !local))
          printLine(
            terminal,
            `${run} ${time?.slice(0, 19) ?? ''} ${name}: ${cut(command.replaceAll(/\s+/g, ' '), 200)}`,
          )
      printLine(terminal, message)
    },
  },
)
