import { targetProblem } from '@scanfarm/contracts'
import type { Evaluated } from '@scanfarm/engine'
import type { FunctionDefinition } from '@scanfarm/functions'
import { Command } from 'commander'
import { printJson, printTable } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { noun, type MakeCommand } from '../noun.ts'
import { addParams } from '../options.ts'
import { loadSettings } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface EvalOptions {
  readonly eval?: string
  readonly target: string
  readonly param?: Record<string, string>
  readonly config?: string
  readonly json?: boolean
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const show = (terminal: Terminal, result: Evaluated, json: boolean): void => {
  if (result.kind === 'error') throw new CliError(EXIT.failed, result.message)
  if (result.kind === 'cancelled') throw new CliError(EXIT.failed, 'the evaluation was cancelled')
  const value = result.kind === 'value' ? result.value : null
  if (json) printJson(terminal, { result: value })
  else if (value !== null && value !== '') printLine(terminal, textOf(value))
}

const evaluate = async (
  terminal: Terminal,
  argument: string | undefined,
  { eval: option, target, param: params = {}, config: file, json = false }: EvalOptions,
): Promise<void> => {
  const source = option ?? argument
  if (source === undefined || (option !== undefined && argument !== undefined))
    throw new CliError(EXIT.usage, 'give one expression: scanfarm function eval \'trim(" a ")\'')
  const problem = target === '' ? undefined : targetProblem(target)
  if (problem !== undefined) throw new CliError(EXIT.usage, problem)
  const { config } = loadSettings(terminal, file)
  const { evaluateExpression } = await import('../workflows/evaluate-expression.ts')
  // With --json, standard output contains only the result.
  const shown = json ? { ...terminal, out: terminal.err } : terminal
  show(terminal, await evaluateExpression(shown, config, { source, target, params }), json)
}

const evalCommand = (terminal: Terminal): Command =>
  addParams(
    new Command('eval')
      .alias('e')
      .description(
        'Evaluate an expression on this machine, without a server or a database. It can read the current folder.',
      )
      .argument('[expression]', 'expression, for example \'file_length("hosts.txt") > 0\'')
      .option('-e, --eval <expression>', 'same as the argument')
      .option('-t, --target <target>', 'value of {{Target}}', ''),
    'variable of the expression',
  )
    .option('--config <file>', 'settings file')
    .option('--json', 'print {"result": …}; output of functions is written to standard error')
    .action((argument: string | undefined, options: EvalOptions) => evaluate(terminal, argument, options))

interface ListOptions {
  readonly json?: boolean
}

const plain = ({ name, signature, returns, doc, aliases }: FunctionDefinition) => ({
  name,
  signature: `${name}(${signature})`,
  returns,
  description: doc,
  aliases,
})

const list = async (terminal: Terminal, word: string | undefined, { json }: ListOptions): Promise<void> => {
  const { FUNCTION_GROUPS } = await import('@scanfarm/functions')
  const sought = (word ?? '').toLowerCase()
  const rows = FUNCTION_GROUPS.flatMap(({ title, functions }) =>
    functions
      .map((definition) => ({ group: title, ...plain(definition) }))
      .filter((row) => `${title} ${row.name} ${row.description}`.toLowerCase().includes(sought)),
  )
  if (json === true) return printJson(terminal, rows)
  printTable(
    terminal,
    [
      { title: 'FUNCTION', value: ({ signature }) => signature },
      { title: 'RESULT', value: ({ returns }) => returns },
      { title: 'DESCRIPTION', value: ({ description }) => description },
    ],
    rows,
  )
}

const listCommand = (terminal: Terminal): Command =>
  new Command('list')
    .alias('ls')
    .description('List the functions of expressions.')
    .argument('[word]', 'only those with this word in their name, group or description')
    .option('--json', 'print JSON')
    .action((word: string | undefined, options: ListOptions) => list(terminal, word, options))

const showFunction = async (terminal: Terminal, name: string, { json }: ListOptions): Promise<void> => {
  const { FUNCTIONS } = await import('@scanfarm/functions')
  const definition = FUNCTIONS.get(name)
  if (definition === undefined)
    throw new CliError(EXIT.usage, `there is no function ${name}; scanfarm function list shows all`)
  const { signature, returns, description, aliases } = plain(definition)
  if (json === true) return printJson(terminal, plain(definition))
  for (const line of [`${signature} → ${returns}`, description]) printLine(terminal, line)
  if (aliases.length > 0) printLine(terminal, `Also: ${aliases.join(', ')}`)
}

const showCommand = (terminal: Terminal): Command =>
  new Command('show')
    .description('Show the parameters, the result and the description of a function.')
    .argument('<name>', 'name or alias of a function')
    .option('--json', 'print JSON')
    .action((name: string, options: ListOptions) => showFunction(terminal, name, options))

export const functionCommand: MakeCommand = (terminal) =>
  noun('function', 'Evaluate expressions, and list the functions that they can call.', [
    evalCommand,
    listCommand,
    showCommand,
  ])(terminal).alias('func')
