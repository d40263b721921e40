// Starts what tests need and prints its addresses as shell assignments, until Ctrl-C:
//   npm run services            in one terminal
//   export SCANFARM_TEST_…      in another, then run jest as often as you like
import { runMain, createLogger } from '@scanfarm/platform'
import { allEngines, openEngines } from './engines.ts'

const STOP_MS = 60_000
const log = createLogger({ level: 'warn', stream: process.stderr })

await runMain(
  async () => {
    const engines = await openEngines(allEngines())
    for (const [name, value] of Object.entries(engines.env)) console.log(`export ${name}='${value}'`)
    return engines
  },
  { log, stopMs: STOP_MS },
)
