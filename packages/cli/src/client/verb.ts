import type { Client } from '@scanfarm/client'
import type { Command } from 'commander'
import type { MakeCommand } from '../noun.ts'
import { idArgument } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { clientCommand, connect, printAnswer, type ClientOptions } from './connect.ts'
import { addFields, fieldsOf, type CommandOptions, type Fields, type FieldsOf } from './fields.ts'
import { printFields } from './table.ts'

/** A command that calls the API once and prints the answer. */
interface Verb<Request, Answer> {
  /** Its arguments and options, which are fields of the request. */
  readonly fields?: FieldsOf<NoInfer<Request>>
  /** Adds what the table cannot say. */
  readonly more?: (command: Command) => Command
  readonly call: (client: Client, given: Request, terminal: Terminal) => Promise<{ readonly data: Answer }>
  /** Prints the answer unless JSON is asked for; default: its fields. */
  readonly print?: (terminal: Terminal, answer: Answer, given: Request) => void
  /** Throws if the answer, which has been printed, means that the command failed. */
  readonly check?: (answer: Answer, given: Request) => void
}

export const verb =
  <Request extends object, Answer extends object>(
    ownName: string,
    description: string,
    { fields = {}, more, call, print = printFields, check }: Verb<Request, Answer>,
  ): MakeCommand =>
  (terminal, name = ownName) => {
    const command = addFields(clientCommand(name, description), fields as Fields)
    return (more?.(command) ?? command).action(async (...values: unknown[]) => {
      const options = values.at(-2) as ClientOptions & CommandOptions
      const given = fieldsOf<Request>(fields as FieldsOf<Request>, options, values.slice(0, -2))
      const answer = await connect(terminal, options).call((client) => call(client, given, terminal))
      printAnswer(terminal, options, answer, () => print(terminal, answer, given))
      check?.(answer, given)
    })
  }

/** The path of a record in the API, as an argument. */
export const idField = (written: string, meaning: string) => ({ id: [written, meaning, idArgument] }) as const

export interface Id {
  readonly id: string
}

/** An answer without the object around its data. */
export const dataOf = async <T>(
  answer: Promise<{ readonly data: { readonly data: T } }>,
): Promise<{ readonly data: T }> => ({ data: (await answer).data.data })
