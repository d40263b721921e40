import { valueOr } from '@scanfarm/contracts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Warnings } from '@scanfarm/contracts'
import { Command, Option } from 'commander'
import { loadSettings, type Config } from '../settings.ts'
import type { Terminal } from '../terminal.ts'
import { Api } from './api.ts'
import { printFields, printJson } from './table.ts'

/** Which server a command calls. */
interface ServerOptions {
  readonly url?: string
  readonly config?: string
}

export interface OutputOptions {
  readonly output: 'table' | 'json'
  readonly json?: boolean
}

export interface ClientOptions extends ServerOptions, OutputOptions {}

/** A command that calls a server, and prints no records. */
export const callingCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--url <url>', 'URL of the server (SCANFARM_URL)')
    .option('--config <file>', 'settings file')

/** Adds the options of a command that prints records. */
export const withOutput = (command: Command): Command =>
  command
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .option('--json', 'same as -o json')

/** A command that calls a server, with the options that all of them share. */
export const clientCommand = (name: string, description: string): Command =>
  withOutput(callingCommand(name, description))

/** The first token of the server, if the server is on this machine and this user may read its token. */
const readFirstToken = ({ dataDir }: Config): string | undefined =>
  valueOr(() => readFileSync(join(dataDir, 'admin-token'), 'utf8').trim(), undefined)

export const connect = (terminal: Terminal, options: ServerOptions): Api => {
  const { config } = loadSettings(terminal, options.config, { 'client.url': options.url })
  return new Api({ url: config.client.url, token: config.client.token?.reveal() ?? readFirstToken(config) })
}

export const wantsJson = ({ output, json }: OutputOptions): boolean => json === true || output === 'json'

/** Prints an answer as JSON if that is asked for; otherwise its fields, or what `print` makes of it. */
export const printAnswer = <T extends object>(
  terminal: Terminal,
  options: OutputOptions,
  answer: T,
  print: (answer: T) => void = (it) => printFields(terminal, it),
): void => (wantsJson(options) ? printJson(terminal, answer) : print(answer))

/** Prints what the server made of fields otherwise than the caller may think, on the error stream. */
export const printWarnings = (terminal: Terminal, warnings: Warnings = []): void => {
  for (const { field, message } of warnings) terminal.err.write(`scanfarm: ${field}: ${message}\n`)
}
