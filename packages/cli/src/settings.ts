import { findConfigFile, loadConfig, type LoadedConfig } from '@scanfarm/platform'
import type { Terminal } from './terminal.ts'

/** `--config` and the values by dotted key that options of a command stand for; `undefined` ones are not given. */
export const loadSettings = (
  { env }: Terminal,
  configPath: string | undefined,
  argvOverrides: Readonly<Record<string, unknown>> = {},
): LoadedConfig => loadConfig({ env, argvOverrides, configPath: findConfigFile(env, configPath) })
