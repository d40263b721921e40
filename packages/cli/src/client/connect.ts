import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { loadSettings, type Config } from '../settings.ts'
import type { Terminal } from '../terminal.ts'
import { Api } from './api.ts'

/** Which server a command calls. */
interface ServerOptions {
  readonly url?: string
  readonly config?: string
}

export interface ClientOptions extends ServerOptions {
  readonly output: 'table' | 'json'
  readonly json?: boolean
}

/** A command that calls a server, and prints no records. */
export const callingCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--url <url>', 'URL of the server (SCANFARM_URL)')
    .option('--config <file>', 'settings file')

/** A command that calls a server, with the options that all of them share. */
export const clientCommand = (name: string, description: string): Command =>
  callingCommand(name, description)
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .option('--json', 'same as -o json')

/** The first token of the server, if the server is on this machine and this user may read its token. */
const readFirstToken = ({ dataDir }: Config): string | undefined => {
  try {
    return readFileSync(join(dataDir, 'admin-token'), 'utf8').trim()
  } catch {
    return undefined
  }
}

export const connect = (terminal: Terminal, options: ServerOptions): Api => {
  const { config } = loadSettings(terminal, options.config, { 'client.url': options.url })
  return new Api({ url: config.client.url, token: config.client.token?.reveal() ?? readFirstToken(config) })
}

export const wantsJson = ({ output, json }: ClientOptions): boolean => json === true || output === 'json'
