import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '@scanfarm/platform'
import { Command, Option } from 'commander'
import { loadSettings } from '../settings.ts'
import type { Terminal } from '../terminal.ts'
import { Api } from './api.ts'

export interface ClientOptions {
  readonly url?: string
  readonly config?: string
  readonly output: 'table' | 'json'
  readonly json?: boolean
}

/** A command that talks to a server, with the options all of them share. */
export const clientCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--url <url>', 'server to talk to (SCANFARM_URL)')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'),
    )
    .option('--json', 'same as -o json')

/** On the machine of the server its first token is at hand, for whoever may read it. */
const tokenAtHand = ({ dataDir }: Config): string | undefined => {
  try {
    return readFileSync(join(dataDir, 'admin-token'), 'utf8').trim()
  } catch {
    return undefined
  }
}

export const connect = (terminal: Terminal, options: ClientOptions): Api => {
  const { config } = loadSettings(terminal, options.config, { 'client.url': options.url })
  return new Api({ url: config.client.url, token: config.client.token?.reveal() ?? tokenAtHand(config) })
}

export const wantsJson = ({ output, json }: ClientOptions): boolean => json === true || output === 'json'
