// `npm run test:security [-- ARGUMENTS OF JEST]`: starts a farm, attacks it over HTTP and with workflows, and stops it.
import { join } from 'node:path'
import { openEngines } from '../services/engines.ts'
import { ensurePrograms, PROGRAMS } from '../services/programs.ts'
import { runJest } from '../test/jest.ts'
import { installSchemathesis } from './schemathesis/install.ts'
import { startFarm } from './farm/start-farm.ts'

const root = join(import.meta.dirname, '../..')
const ENGINES = ['SCANFARM_TEST_DOCKER', 'SCANFARM_TEST_SSHD']

const attackFarm = async (): Promise<boolean> => {
  if (process.getuid?.() !== 0)
    throw new Error('the attacks create users for an ssh host, which requires root: run them as root')
  ensurePrograms([PROGRAMS.redis, PROGRAMS.openssl, PROGRAMS.bash])
  const schemathesis = await installSchemathesis(join(root, '.cache'))
  await using engines = await openEngines(ENGINES)
  Object.assign(process.env, engines.env)
  await using farm = await startFarm()
  Object.assign(process.env, {
    SCANFARM_TEST_ATTACKED_FARM: JSON.stringify(farm.facts),
    SCANFARM_TEST_SCHEMATHESIS: schemathesis,
  })
  return await runJest(root, ['--config', 'scripts/security/jest.config.js', ...process.argv.slice(2)])
}

let passedAll = false
try {
  passedAll = await attackFarm()
} catch (error) {
  console.error(`\nthe attacks cannot run: ${error instanceof Error ? error.message : String(error)}\n`)
}
process.exitCode = passedAll ? 0 : 1
