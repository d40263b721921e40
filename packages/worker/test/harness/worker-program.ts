import { createLogger, findConfigFile, readConfig, runMain } from '@scanfarm/platform'
import { startWorker } from '@scanfarm/worker'
import { SETTINGS } from '../../src/settings/settings.ts'

const config = readConfig(SETTINGS, { env: process.env, configPath: findConfigFile(process.env) })
const log = createLogger(config.log)
await runMain((stopping) => startWorker(config, { log, stopping }), {
  log,
  // Like `scanfarm worker`: without a database, pending statements are retried for about ten seconds.
  stopMs: config.worker.drainMs + 45_000,
})
