export { Secret } from './secret.ts'
export type { Config } from './config/keys.ts'
export {
  ConfigError,
  findConfigFile,
  loadConfig,
  readConfig,
  type ConfigSources,
  type LoadedConfig,
} from './config/read-config.ts'
export { settingsMarkdown, showConfig, type ShownSetting } from './config/show-config.ts'
export {
  createLogger,
  silentLogger,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from './logger.ts'
export { Counter, createMetrics, Gauge, Histogram, type Registry } from './metrics.ts'
export { Loop, type LoopOptions } from './loop.ts'
export { runMain, type MainOptions } from './run-main.ts'
