/**
 * `npm run dev`: a master and a worker from this checkout, on the embedded services of `.scanfarm/dev`. Each restarts
 * when a source file or an SQL file changes, and each listens for a debugger. Ctrl-C stops both and keeps the data.
 *
 *   npm run dev               starts the farm; its log goes to this terminal
 *   npm run dev -- --fresh    the same with an empty data folder
 *   npm run dev -- --debugger-port 9300    debuggers on 9300 (master) and 9301 (worker); 0: on free ports
 *
 * Settings come from the environment as usual: `SCANFARM_LOG_LEVEL=debug npm run dev`.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { openServices } from '@scanfarm/embedded'
import { createLogger, loadConfig, runMain } from '@scanfarm/platform'
import { SETTINGS } from '@scanfarm/cli/settings'

const ROOT = join(import.meta.dirname, '../..')
const PROGRAM = join(ROOT, 'packages/cli/src/main.ts')
const STOP_MS = 60_000

const WATCHED = globSync(['packages/*/src', 'packages/*/sql'], { cwd: ROOT })

interface DevProgram {
  readonly name: string
  readonly args: readonly string[]
}

const PROGRAMS: readonly DevProgram[] = [
  { name: 'master', args: ['server', '--master'] },
  { name: 'worker', args: ['worker', '--name', 'dev'] },
]

const options = parseArgs({
  options: {
    fresh: { type: 'boolean', default: false },
    'debugger-port': { type: 'string', default: '9229' },
  },
}).values
const firstDebuggerPort = Number(options['debugger-port'])

const settings = {
  SCANFARM_DATA_DIR: join(ROOT, '.scanfarm/dev'),
  FORCE_COLOR: '1',
  // A restart does not wait for runs: they are handed back, and the next process claims them again.
  SCANFARM_WORKER_DRAIN_MS: '0',
  ...process.env,
}

const copyLines = async (name: string, stream: Readable): Promise<void> => {
  for await (const line of createInterface({ input: stream })) console.log(`${name} │ ${line}`)
}

/** Node watches the folders, stops the program with SIGTERM and starts it again when it has ended. */
const start = ({ name, args }: DevProgram, debuggerPort: number): ChildProcess => {
  const child = spawn(
    process.execPath,
    [
      '--watch-preserve-output',
      ...WATCHED.map((folder) => `--watch-path=${folder}`),
      `--inspect=127.0.0.1:${debuggerPort}`,
      '--disable-warning=ExperimentalWarning',
      PROGRAM,
      ...args,
    ],
    // A Ctrl-C of the terminal reaches only this process, which passes it on once: a second signal would skip the drain.
    { cwd: ROOT, env: settings, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  )
  void copyLines(name, child.stdout)
  void copyLines(name, child.stderr)
  return child
}

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

const startFarm = async (): Promise<AsyncDisposable> => {
  await using scope = new AsyncDisposableStack()
  const { config } = loadConfig(SETTINGS, { env: settings, argvOverrides: {}, configPath: undefined })
  if (options.fresh) rmSync(config.dataDir, { recursive: true, force: true })
  // Held here, so that the services outlast the restarts of the programs that use them.
  const services = scope.use(await openServices({ config, need: { queue: true }, log }))
  for (const line of services.describe) console.log(line)
  console.log(
    `API: http://${config.http.host}:${config.http.port}, token in ${join(config.dataDir, 'admin-token')}`,
  )
  for (const [index, program] of PROGRAMS.entries()) {
    const child = start(program, firstDebuggerPort === 0 ? 0 : firstDebuggerPort + index)
    scope.defer(() => stop(child))
  }
  const started = scope.move()
  return { [Symbol.asyncDispose]: () => started.disposeAsync() }
}

const log = createLogger({ level: 'warn', stream: process.stderr })
await runMain(startFarm, { log, stopMs: STOP_MS })
