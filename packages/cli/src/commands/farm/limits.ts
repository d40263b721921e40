import type { Limits } from '@scanfarm/contracts'
import { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { printJson } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { collect } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'

const LIMIT = /^(address|network|domain):((?:rate|runs)=\d{1,9}(?:,(?:rate|runs)=\d{1,9})?)$/

const ONCE = 'workflow:once'

const limitOf = (text: string): Limits => {
  if (text === 'none') return {}
  if (text === ONCE) return { workflow_once: true }
  const [, kind, values = ''] = LIMIT.exec(text) ?? []
  if (kind === undefined)
    throw new CliError(
      EXIT.usage,
      `--limit ${text}: write it like address:rate=10,runs=2, network:runs=5, domain:rate=50 or ${ONCE}, or none`,
    )
  const limit = Object.fromEntries(
    values
      .split(',')
      .map((part) => [part.slice(0, part.indexOf('=')), Number(part.slice(part.indexOf('=') + 1))]),
  )
  return { [`per_${kind}`]: limit }
}

export const limitsOf = (texts: readonly string[]): Limits =>
  texts.map(limitOf).reduce((all, limit) => ({ ...all, ...limit }), {})

export const LIMIT_OPTION = '--limit <limit>'
export const LIMIT_HELP =
  'of an address, a network (/24, /64) or a registrable domain, like address:rate=10,runs=2; workflow:once: a workflow works once at a time on a target; repeatable; none: no limits'

const KINDS = ['address', 'network', 'domain'] as const

export const limitsText = (limits: Limits): string =>
  [
    ...KINDS.flatMap((kind) => {
      const values = Object.entries(limits[`per_${kind}`] ?? {}).map(([name, value]) => `${name}=${value}`)
      return values.length === 0 ? [] : [`${kind}:${values.sort().join(',')}`]
    }),
    ...(limits.workflow_once === true ? [ONCE] : []),
  ].join(' ')

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
