import { createLogger, findConfigFile, readConfig, runMain } from '@scanfarm/platform'
import { startWorker } from '@scanfarm/worker'

const config = readConfig({ env: process.env, configPath: findConfigFile(process.env) })
const log = createLogger(config.log)
await runMain((stopping) => startWorker(config, { log, stopping }), {
  log,
  stopMs: config.worker.drainMs + 20_000,
})
