import type { Traffic } from '@scanfarm/contracts'
import type { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { cut, printJson, printTable, shortTime, type Column } from '../../client/table.ts'
import { printLine, type Terminal } from '../../terminal.ts'

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

interface TrafficOptions extends ClientOptions {
  readonly from?: string
  readonly to?: string
}

export const wasItUsCommand = (terminal: Terminal): Command =>
  clientCommand('was-it-us', 'Find the runs that may have sent traffic to a host, with their commands.')
    .argument('<address>', 'address or name of the host')
    .option('--from <time>', 'a date, or RFC 3339; default: a day before --to')
    .option('--to <time>', 'the same; default: now')
    .action(async (address: string, options: TrafficOptions) => {
      const { from, to } = options
      const query = { address, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
      const answer = await connect(terminal, options).call(({ GET }) =>
        GET('/traffic', { params: { query } }),
      )
      if (wantsJson(options)) return printJson(terminal, answer)
      if (answer.data.length > 0) printTable(terminal, COLUMNS, answer.data)
      for (const { run_uuid: run, steps } of answer.data)
        for (const { name, command, started_at: time } of steps.filter(({ sends_nothing: local }) => !local))
          printLine(
            terminal,
            `${run} ${time?.slice(0, 19) ?? ''} ${name}: ${cut(command.replaceAll(/\s+/g, ' '), 200)}`,
          )
      printLine(terminal, answer.message)
    })
