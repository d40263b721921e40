// Starts the program from its bundle. If sources have changed since the bundle was built, it is built first; where that
// is not possible, the program starts from the sources.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { scriptOf } from '../../packages/cli/src/commands/client.ts'
import { endWithoutOutput } from '../../packages/cli/src/terminal.ts'
import { storedAnswer } from './answers.ts'
import { currentBundle, sourcesOf } from './current.ts'
import { cacheOf, endProcess, readCache, readScript } from './run-script.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Programs that start at the same time wait for one build, by the code and the installation of the checkout. */
const build = (): string | undefined => {
  const words = [join(ROOT, 'scripts/run'), join(ROOT, 'scripts/bundle/main.ts')]
  const lock = ['flock', join(ROOT, '.cache/bundle.lock')]
  const { error } = run([...lock, ...words])
  if (error !== undefined) run(words)
  return currentBundle(ROOT)
}

const run = ([command = '', ...args]: readonly string[]) =>
  process
    .getBuiltinModule('node:child_process')
    .spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })

const start = async (): Promise<void> => {
  const { script, cache } = scriptOf(process.argv[2])
  const bundle = currentBundle(ROOT, sourcesOf(script)) ?? build()
  if (bundle === undefined) return void (await import(join(ROOT, 'packages/cli/src/main.ts')))
  if (script === 'main') enableCompileCache(join(ROOT, '.cache/compile'))
  await readScript(bundle, script, readCache(cacheOf(bundle, cache))).run()
  if (script !== 'main') await endProcess()
}

const answer = storedAnswer(process.argv.slice(2), () => currentBundle(ROOT))
if (answer === undefined) await start()
else {
  endWithoutOutput()
  process.stdout.write(answer)
}
