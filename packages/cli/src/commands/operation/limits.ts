import { limitLines, limitsOfLines } from '@scanfarm/client'
import type { Limits } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { printJson } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { collect } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'

export const limitsOf = (texts: readonly string[]): Limits => {
  try {
    return limitsOfLines(texts.filter((text) => text !== 'none'))
  } catch (error) {
    throw new CliError(EXIT.usage, `--limit: ${errorText(error)}`)
  }
}

export const LIMIT_OPTION = '--limit <limit>'
export const LIMIT_HELP =
  'of an address, a network (/24, /64) or a registrable domain, like address:rate=10,runs=2; workflow:once: a workflow works once at a time on a target; repeatable; none: no limits'

export const limitsText = (limits: Limits): string => limitLines(limits).join(' ')

const printLimits = (terminal: Terminal, options: ClientOptions, limits: Limits): void => {
  if (wantsJson(options)) return printJson(terminal, limits)
  printLine(terminal, limitsText(limits) || 'none')
}

const showLimits = (terminal: Terminal): Command =>
  clientCommand('show', 'Show the limits of all runs.').action(async (options: ClientOptions) => {
    const { data } = await connect(terminal, options).call(({ GET }) => GET('/limits'))
    printLimits(terminal, options, data)
  })

const setLimits = (terminal: Terminal): Command =>
  clientCommand('set', 'Replace the limits of all runs.')
    .option(LIMIT_OPTION, LIMIT_HELP, collect)
    .action(async ({ limit, ...options }: ClientOptions & { limit?: string[] }) => {
      if (limit === undefined) throw new CliError(EXIT.usage, 'give --limit; --limit none removes all limits')
      const body = limitsOf(limit)
      const { data } = await connect(terminal, options).call(({ PUT }) => PUT('/limits', { body }))
      printLimits(terminal, options, data)
    })

export const limitsCommand = (terminal: Terminal): Command =>
  new Command('limits')
    .description('How much all runs together may load the hosts that they scan.')
    .addCommand(showLimits(terminal))
    .addCommand(setLimits(terminal))
