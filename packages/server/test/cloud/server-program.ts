import { providersFrom } from '@scanfarm/cloud'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { startServer } from '../../src/index.ts'
import { providerBehind } from './gate.ts'
import { QUICK } from './farm.ts'

/** A server until it is killed: `node server-program.ts SETTINGS-AS-JSON GATE-URL`; tells its address. */
const [, , settings = '{}', gate = ''] = process.argv
const config = readConfig({ env: {}, argvOverrides: JSON.parse(settings) as Record<string, unknown> })
const providers = providersFrom({ local: async () => providerBehind(gate) }, {}, silentLogger)
const server = await startServer(config, {}, { log: silentLogger, providers, life: QUICK })
process.stdout.write(`${server.url}\n`)
