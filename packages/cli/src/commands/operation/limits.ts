import { limitLines, limitsOfLines } from '@scanfarm/client'
import type { Limits } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { dataOf, verb } from '../../client/verb.ts'
import { CliError, EXIT } from '../../exit.ts'
import { noun } from '../../noun.ts'
import { collect } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'

export const limitsOf = (texts: readonly string[]): Limits => {
  try {
    return limitsOfLines(texts.filter((text) => text !== 'none'))
  } catch (error) {
    throw new CliError(EXIT.usage, `--limit: ${errorText(error)}`)
  }
}

export const LIMIT = [
  '--limit <limit>',
  'of an address, a network (/24, /64) or a registrable domain, like address:rate=10,runs=2; workflow:once: a workflow works once at a time on a target; repeatable; none: no limits',
  collect,
] as const

export const limitsText = (limits: Limits): string => limitLines(limits).join(' ')

const print = (terminal: Terminal, limits: Limits): void => printLine(terminal, limitsText(limits) || 'none')

const showLimits = verb('show', 'Show the limits of all runs.', {
  call: ({ GET }) => dataOf(GET('/limits')),
  print,
})

const setLimits = verb('set', 'Replace the limits of all runs.', {
  fields: { limit: LIMIT },
  call({ PUT }, { limit }: { readonly limit?: readonly string[] }) {
    if (limit === undefined) throw new CliError(EXIT.usage, 'give --limit; --limit none removes all limits')
    return dataOf(PUT('/limits', { body: limitsOf(limit) }))
  },
  print,
})

export const limitsCommand = noun('limits', 'How much all runs together may load the hosts that they scan.', [
  showLimits,
  setLimits,
])
