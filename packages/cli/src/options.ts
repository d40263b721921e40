import { parseDuration } from '@scanfarm/language'
import { InvalidArgumentError, Option, type Command } from 'commander'

/** For options that can be repeated. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** `name=value`, repeated for each parameter. */
export const collectParam = (
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> => {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('must have the form name=value')
  const name = text.slice(0, at)
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is given twice; give it once`)
  return { ...before, [name]: text.slice(at + 1) }
}

/** An alias of an option, which shares its value. */
class Alias extends Option {
  readonly #of: string

  constructor(flags: string, of: string) {
    super(flags, `the same as --${of}`)
    this.#of = of
  }

  override attributeName(): string {
    return this.#of
  }
}

const notFormat = (text: string): string => {
  if (!['table', 'json'].includes(text)) return text
  throw new InvalidArgumentError('this command prints no records; write to a file with --to FILE')
}

/** `--to` names a file. `-o` is the format elsewhere, and was the file of `report`. */
export const addFile = (command: Command): Command =>
  command
    .option('--to <file>', 'file to write; default: standard output')
    .addOption(new Alias('-o, --output <file>', 'to').argParser(notFormat).hideHelp())

/** `-p`, `--param` and `--params`: the same in all commands. */
export const addParams = (command: Command, description: string): Command =>
  command
    .option('-p, --param <name=value>', `${description}; repeatable`, collectParam)
    .addOption(new Alias('--params <name=value>', 'param').argParser(collectParam))

/** Reads the name of a flow or module. Several options set it, and only one of them may be given. */
export const flowOrModule = (text: string, before?: string): string => {
  if (before !== undefined) throw new InvalidArgumentError('name one flow or module')
  return text
}

/** `-f` and `-m` name the flow or module, as in all commands; only one of them and `option` may be given. */
export const addWorkflow = (command: Command, option: Option): Command => {
  const name = option.name()
  command.addOption(option.argParser(flowOrModule))
  for (const flags of ['-f, --flow <name>', '-m, --module <name>'])
    if (!flags.includes(`--${name} `)) command.addOption(new Alias(flags, name).argParser(flowOrModule))
  return command
}

/** An id that becomes part of a path of the API. */
export const idArgument = (text: string): string => {
  if (/^\s*\.{0,2}\s*$/.test(text)) throw new InvalidArgumentError('must be an id')
  return text
}

const COLLECTING: ReadonlySet<unknown> = new Set([collect, collectParam])

/** Refuses an option that is given twice but holds one value. Otherwise the last value would win silently. */
export const refuseRepetitions = (command: Command): void => {
  for (const option of command.options) {
    if (COLLECTING.has(option.parseArg) || option.variadic || !(option.required || option.optional)) continue
    let given = false
    command.on(`option:${option.name()}`, () => {
      if (given) command.error(`error: option '${option.flags}' is given twice; give it once`)
      given = true
    })
  }
}

export const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1')
  return Number(text)
}

/** For counts that may be 0. */
export const wholeNumberOrZero = (text: string): number => (text === '0' ? 0 : wholeNumber(text))

/** A probability. */
export const share = (text: string): number => {
  const value = Number(text)
  if (!/^\d*\.?\d+$/.test(text) || value > 1) throw new InvalidArgumentError('must be a number from 0 to 1')
  return value
}

const MAX_DAYS = 365

/** Milliseconds of `2h`, `1h30m`, `90s`, `1.5d`; a number alone is seconds, as in workflows. */
export const duration = (text: string): number => {
  const ms = parseDuration(text)
  if (ms === undefined)
    throw new InvalidArgumentError('must be a duration like 2h, 1h30m or 1d; a number alone is seconds')
  if (ms < 1 || ms > MAX_DAYS * 86_400_000)
    throw new InvalidArgumentError(`must be longer than 0 and at most ${MAX_DAYS}d`)
  return ms
}
