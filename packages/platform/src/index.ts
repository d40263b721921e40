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
export { commandVariableProblem, type Variable } from './config/variables.ts'
export {
  changedSettings,
  settingsInForce,
  settingsMarkdown,
  settingsYaml,
  showConfig,
  type ShownSetting,
} from './config/show-config.ts'
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
export {
  openServices,
  type QueueService,
  type ServiceNeeds,
  type Services,
} from './embedded/open-services.ts'
export { makeDataDir, removeDataDir } from './embedded/service-folder.ts'
export { postgresServer, type PostgresOptions } from './embedded/postgres.ts'
export { redisServer } from './embedded/redis.ts'
export { findRedisProgram, type RedisProgram } from './embedded/redis-program.ts'
export { shareServer, type ServerKind, type SharedServer } from './embedded/shared-server.ts'
export { errorText } from './error-text.ts'
export { fileErrorText } from './file-error.ts'
export { makeFolder } from './make-folder.ts'
