import {
  findConfigFile,
  loadConfig,
  secret,
  text,
  type ConfigOf,
  type LoadedConfig,
} from '@scanfarm/platform'
import { SETTINGS as SERVER_SETTINGS } from '@scanfarm/server/settings'
import type { Terminal } from './terminal.ts'

/** All settings, in the order of the documentation. */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  client: {
    url: text('URL of the server that client commands use.', {
      default: (lookup) => `http://127.0.0.1:${String(lookup('http.port'))}`,
      defaultText: 'http://127.0.0.1 with `http.port`',
      env: ['SCANFARM_URL'],
    }),
    token: secret('Token of the client commands.', { env: ['SCANFARM_TOKEN'] }),
  },
}

export type Config = ConfigOf<typeof SETTINGS>

/** Reads the settings. `argvOverrides` are the values of options by dotted key; undefined ones are ignored. */
export const loadSettings = (
  { env }: Terminal,
  configPath: string | undefined,
  argvOverrides: Readonly<Record<string, unknown>> = {},
): LoadedConfig<typeof SETTINGS> =>
  loadConfig(SETTINGS, { env, argvOverrides, configPath: findConfigFile(env, configPath) })
