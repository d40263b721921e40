import { Option, type Command } from 'commander'
import type { ClientOptions } from './connect.ts'

/** Options that are query parameters of a list: by parameter, the flags, what they mean, and how they are read. */
export type QueryOptions = Readonly<
  Record<string, readonly [flags: string, description: string, read?: (text: string) => unknown]>
>

/** The values of a command's options, by their names in the program. */
export type CommandOptions = ClientOptions & Readonly<Record<string, unknown>>

export const addQuery = (command: Command, options: QueryOptions): Command => {
  for (const [flags, description, read = (text: string): unknown => text] of Object.values(options))
    command.addOption(
      flags.includes('<') ? new Option(flags, description).argParser(read) : new Option(flags, description),
    )
  return command
}

/** The values of options by parameter. The server checks them. */
export const queryFrom = <Query extends object>(options: QueryOptions, values: CommandOptions): Query =>
  Object.fromEntries(
    Object.entries(options).map(([name, [flags]]) => [name, values[new Option(flags).attributeName()]]),
  ) as Query
