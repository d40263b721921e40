// npm run test:security [-- ARGUMENTS OF JEST]: starts a farm, attacks it from outside, stops it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngines } from '../services/engines.ts'
import { ensurePrograms, PROGRAMS } from '../services/programs.ts'
import { countTests, resultPath, runJest } from '../test/jest.ts'
import { installSchemathesis } from './schemathesis/install.ts'
import { startFarm } from './farm/start-farm.ts'

const root = join(import.meta.dirname, '../..')
const ENGINES = ['SCANFARM_TEST_DOCKER', 'SCANFARM_TEST_SSHD']

const attack = async (folder: string): Promise<boolean> => {
  if (process.getuid?.() !== 0)
    throw new Error(
      'the attacks start an ssh host with users of its own, which only root can: run them as root',
    )
  ensurePrograms([PROGRAMS.redis, PROGRAMS.openssl, PROGRAMS.bash])
  const schemathesis = await installSchemathesis(join(root, '.cache'))
  await using engines = await openEngines(ENGINES)
  Object.assign(process.env, engines.env)
  await using farm = await startFarm()
  return await runJest({
    root,
    args: ['--config', 'scripts/security/jest.config.js', ...process.argv.slice(2)],
    env: {
      ...engines.env,
      SCANFARM_ATTACKED_FARM: JSON.stringify(farm.facts),
      SCANFARM_SCHEMATHESIS: schemathesis,
    },
    resultFile: resultPath(folder),
  })
}

const folder = await mkdtemp(join(tmpdir(), 'scanfarm-security-'))
let passedAll = false
try {
  passedAll = await attack(folder)
} catch (error) {
  console.error(`\nthe attacks cannot run: ${error instanceof Error ? error.message : String(error)}\n`)
}
const { passed, failed, skipped } = countTests(resultPath(folder))
await rm(folder, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = passedAll && failed === 0 ? 0 : 1
