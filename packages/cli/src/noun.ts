import { Command } from 'commander'
import type { Terminal } from './terminal.ts'

/** Makes a command. `name` replaces its usual name. */
export type MakeCommand = (terminal: Terminal, name?: string) => Command

/** A command that is only the name of others. */
export const noun =
  (name: string, description: string, verbs: readonly MakeCommand[]): MakeCommand =>
  (terminal) => {
    const command = new Command(name).description(description)
    for (const make of verbs) command.addCommand(make(terminal))
    return command
  }

/** A noun that lists when it is used without a verb, with the options of `list`. */
export const listingNoun =
  (name: string, list: MakeCommand, verbs: readonly MakeCommand[] = []): MakeCommand =>
  (terminal) => {
    // Options after the name of a verb belong to it.
    const command = list(terminal, name).enablePositionalOptions()
    for (const make of [list, ...verbs]) command.addCommand(make(terminal))
    return command
  }
