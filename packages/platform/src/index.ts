export { Secret } from './secret.ts'
export { foreignVariable, searchPath } from './config/environment.ts'
export {
  amount,
  choice,
  flag,
  integer,
  list,
  path,
  paths,
  secret,
  text,
  webAddress,
  type Lookup,
} from './config/setting.ts'
export { variables, VARIABLE_NAME, type Variable } from './config/variables.ts'
export { allOrNone, checked, type ConfigOf, type LoadedConfig, type SettingsTable } from './config/table.ts'
export { ConfigError, findConfigFile, loadConfig, readConfig, type ConfigSources } from './config/load.ts'
export {
  changedSettings,
  describeSettings,
  settingsMarkdown,
  settingsYaml,
  showConfig,
} from './config/show.ts'
export { inDataDir, platformSettings } from './settings.ts'
export { createLogger, silentLogger, type Logger, type LoggerOptions } from './logger.ts'
export { Counter, createMetrics, Gauge, Histogram, type Registry } from './metrics.ts'
export { lockMachine } from './lock-machine.ts'
export { Loop, startLoops, type Loops, type LoopSpec } from './loop.ts'
export { runMain } from './run-main.ts'
export { errorText, fileErrorText } from './error-text.ts'
export { makeFolder } from './make-folder.ts'
export { newUuid } from './new-uuid.ts'
export { backOff, pause, retry, settlesWithin } from './retry.ts'
