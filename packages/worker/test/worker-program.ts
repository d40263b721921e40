import { createLogger, findConfigFile, readConfig, runMain } from '@scanfarm/platform'
import { startWorker } from '@scanfarm/worker'

const config = readConfig({ env: process.env, configPath: findConfigFile(process.env) })
const log = createLogger(config.log)
await runMain((stopping) => startWorker(config, { log, stopping }), {
  log,
  // As `scanfarm worker` has it: without a database, each statement under way is tried again for about ten seconds.
  stopMs: config.worker.drainMs + 45_000,
})
