import { Command } from 'commander'
import { printAnswer } from '../../client/answer.ts'
import { clientCommand, connect, type ClientOptions } from '../../client/connect.ts'
import { printTable, type Column } from '../../client/table.ts'
import { wholeNumber } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'

const SHARES: readonly Column<{ owner: string; weight: number }>[] = [
  { title: 'OWNER', value: ({ owner }) => owner },
  { title: 'WEIGHT', value: ({ weight }) => String(weight) },
]

const listShares = (terminal: Terminal): Command =>
  clientCommand('list', 'List owners whose weight is not 1.').action(async (options: ClientOptions) => {
    const { data } = await connect(terminal, options).call(({ GET }) => GET('/shares'))
    printAnswer(terminal, options, data, (shares) => printTable(terminal, SHARES, shares))
  })

const setShare = (terminal: Terminal): Command =>
  clientCommand('set', 'Set how many shares the runs of an owner get.')
    .argument('<owner>', 'token:NAME, user:NAME or workspace:NAME')
    .argument('<weight>', '1 to 1000', wholeNumber)
    .action(async (owner: string, weight: number, options: ClientOptions) => {
      const body = { owner, weight }
      const { data } = await connect(terminal, options).call(({ PUT }) => PUT('/shares', { body }))
      printAnswer(terminal, options, data, () => printLine(terminal, `${owner} has weight ${weight}`))
    })

export const sharesCommand = (terminal: Terminal): Command =>
  new Command('shares')
    .description('Whose runs get more than one share of the workers.')
    .addCommand(listShares(terminal))
    .addCommand(setShare(terminal))
