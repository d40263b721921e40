import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { startServer, type RunningServer } from '@scanfarm/server'
import { SETTINGS } from '@scanfarm/server/settings'
import { testDatabase } from '@scanfarm/store/testing'

export const TOKEN = 'sft_client_test'
const OPEN_TO_COMMANDS = 0o711

const module = (name: string, command: string): string => `kind: module
name: ${name}
steps:
  - name: only
    type: bash
    command: ${command}
`

const WORKFLOWS = {
  'quick.yaml': module('quick', 'echo hello {{target}}'),
  'failing.yaml': module('failing', 'exit 3'),
  'held.yaml': module('held', "'while [ ! -e {{target}} ]; do sleep 0.05; done'"),
  'slow.yaml': module('slow', 'sleep 300'),
}

/** A server with local slots, on a database of its own. */
export interface Farm extends AsyncDisposable {
  readonly url: string
  /** A folder that the commands of runs can read. */
  readonly folder: string
  stop(): Promise<void>
  /** At the same address. */
  start(): Promise<void>
}

export const startFarm = async (): Promise<Farm> => {
  await using scope = new AsyncDisposableStack()
  const database = scope.use(await testDatabase())
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-client-'))
  scope.defer(() => rm(folder, { recursive: true }))
  await chmod(folder, OPEN_TO_COMMANDS)
  await mkdir(join(folder, 'workflows'))
  await mkdir(join(folder, 'data'), { mode: OPEN_TO_COMMANDS })
  for (const [name, yaml] of Object.entries(WORKFLOWS)) await writeFile(join(folder, 'workflows', name), yaml)
  const open = (port: number): Promise<RunningServer> =>
    startServer(
      readConfig(SETTINGS, {
        env: {},
        argvOverrides: {
          data_dir: join(folder, 'data'),
          'database.url': database.url,
          'workflows.folders': [join(folder, 'workflows')],
          'auth.initial_token': TOKEN,
          'http.port': port,
          'local.slots': 4,
          'worker.drain_ms': 500,
        },
      }),
      {},
      { log: silentLogger, checkResponses: true },
    )
  let server: RunningServer | undefined = await open(0)
  const { url } = server
  const stop = async (): Promise<void> => {
    const running = server
    server = undefined
    await running?.[Symbol.asyncDispose]()
  }
  scope.defer(stop)
  const running = scope.move()
  return {
    url,
    folder,
    stop,
    start: async () => {
      server = await open(Number(new URL(url).port))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
