import type { Warnings } from '@scanfarm/contracts'
import type { Client } from '@scanfarm/client'
import type { Terminal } from '../terminal.ts'
import { connect, wantsJson, type ClientOptions } from './connect.ts'
import { printFields, printJson } from './table.ts'

/** Prints an answer as JSON if that is asked for; otherwise its fields, or what `print` makes of it. */
export const printAnswer = <T extends object>(
  terminal: Terminal,
  options: ClientOptions,
  answer: T,
  print: (answer: T) => void = (it) => printFields(terminal, it),
): void => (wantsJson(options) ? printJson(terminal, answer) : print(answer))

/** Prints what the server made of fields otherwise than the caller may think, on the error stream. */
export const printWarnings = (terminal: Terminal, warnings: Warnings = []): void => {
  for (const { field, message } of warnings) terminal.err.write(`scanfarm: ${field}: ${message}\n`)
}

/** The action of a command whose argument is an id: calls the API with it and prints the answer. */
export const actionOn =
  <T extends object>(
    terminal: Terminal,
    call: (client: Client, id: string) => Promise<{ readonly data: T }>,
    print?: (answer: T, id: string) => void,
  ) =>
  async (id: string, options: ClientOptions): Promise<void> => {
    const answer = await connect(terminal, options).call((client) => call(client, id))
    printAnswer(terminal, options, answer, print && ((it) => print(it, id)))
  }
