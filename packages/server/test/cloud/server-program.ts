import { providersFrom } from '@scanfarm/cloud'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { startServer } from '../../src/index.ts'
import { providerBehind } from './gate.ts'
import { MORTAL } from './farm.ts'
import { SETTINGS } from '../../src/settings.ts'

/** Runs a server until it is killed and prints its address: `node server-program.ts SETTINGS-AS-JSON GATE-URL`. */
const [, , settings = '{}', gate = ''] = process.argv
const config = readConfig(SETTINGS, {
  env: {},
  argvOverrides: JSON.parse(settings) as Record<string, unknown>,
})
const providers = providersFrom({ local: async () => providerBehind(gate) }, {}, silentLogger)
const server = await startServer(config, {}, { log: silentLogger, providers, provisioning: MORTAL })
process.stdout.write(`${server.url}\n`)
