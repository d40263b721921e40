import { Argument, Option, type Command } from 'commander'
import { addWorkflow, flowOrModule } from '../options.ts'

/** How a value is read: as one of some words, or by a function, which also gets the value so far if it is repeatable. */
type Read = readonly string[] | ((text: string, before?: never) => unknown)

interface Rules {
  readonly required?: true
  readonly default?: string
  /** The value of an option that is given without one. */
  readonly preset?: string
  /** Options that exclude it. */
  readonly conflicts?: string[]
}

type Field = readonly [written: string, meaning: string, read?: Read | undefined, rules?: Rules]

/** Fields of a request, by name: the argument or the option that sets them, what it means, and how it is read. */
export type Fields<Name extends PropertyKey = string> = Readonly<Record<Name, Field>>

/** Fields of a request of this type. */
export type FieldsOf<Request> = Partial<Fields<keyof Request>>

/** The values of a command's options, by their names in the program. */
export type CommandOptions = Readonly<Record<string, unknown>>

const isArgument = ([written]: Field): boolean => /^[<[]/.test(written)

const readBy = <Part extends Option | Argument>(part: Part, read: Read | undefined): Part => {
  if (typeof read === 'function') part.argParser(read as (text: string) => unknown)
  else if (read !== undefined) part.choices(read)
  return part
}

const optionOf = ([written, meaning, read, rules = {}]: Field): Option => {
  const { required = false, conflicts = [], preset, default: usual } = rules
  const option = readBy(new Option(written, meaning), read)
  option.makeOptionMandatory(required).conflicts(conflicts)
  if (preset !== undefined) option.preset(preset)
  return usual === undefined ? option : option.default(usual)
}

/** Adds arguments and options. A field that `flowOrModule` reads gets `-f` and `-m` too. */
export const addFields = (command: Command, fields: Fields): Command => {
  for (const field of Object.values(fields)) {
    const [written, meaning, read] = field
    if (isArgument(field)) command.addArgument(readBy(new Argument(written, meaning), read))
    else if (read === flowOrModule) addWorkflow(command, optionOf(field))
    else command.addOption(optionOf(field))
  }
  return command
}

/** The fields that a command line gives. The server checks them. */
export const fieldsOf = <Request extends object>(
  fields: FieldsOf<Request>,
  options: CommandOptions,
  args: readonly unknown[] = [],
): Request => {
  const rest = [...args]
  const values = Object.entries(fields as Fields).map(([name, field]) => [
    name,
    isArgument(field) ? rest.shift() : options[new Option(field[0]).attributeName()],
  ])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Request
}
