import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from '@jest/globals'
import type { ArtifactStore, Role, RunStore } from '@scanfarm/contracts'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { openRunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'
import { testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import request, { type Agent } from 'supertest'
import { newToken, tokenHash } from '../src/access/api-token.ts'
import type { ServerLimits } from '../src/context.ts'
import { createContext } from '../src/create-context.ts'
import { createApp } from '../src/http/app.ts'
import { listenHttp } from '../src/http/listen.ts'
import { apiRoutes } from '../src/routes/index.ts'
import { SETTINGS, type Config } from '../src/settings.ts'

export interface TestServerOptions {
  readonly master?: boolean
  /** URL of the Redis of its queue; missing: the queue is in Postgres. */
  readonly redis?: string
  /** Settings by dotted key. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly limits?: Partial<ServerLimits>
  /** YAML by file name. */
  readonly workflows?: Readonly<Record<string, string>>
  /** The settings returned by a reread; missing: they cannot be read again. */
  readonly reread?: () => Config
  /** A database shared with another server; missing: a separate one. */
  readonly database?: TestDatabase
  /** The installation whose console is served; missing: the folder of the test, which has none. */
  readonly consoleRoot?: string
}

export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** Clients with the roles administrator, operator and viewer, and one without a token. */
  readonly admin: Agent
  readonly operator: Agent
  readonly viewer: Agent
  readonly nobody: Agent
  readonly database: TestDatabase
  readonly store: Store
  /** Acts as a worker on the same database. */
  readonly runStore: RunStore
  readonly artifacts: ArtifactStore
  /** Folder for files of the test; contains the data folder. */
  readonly folder: string
  /** The token announced at the first start. */
  readonly firstToken: string
  readonly tokens: Readonly<Record<Role, string>>
}

/** The body of an error response. */
export const refusal = (code: string, message: string, details: unknown[] = []) => ({
  error: true,
  message,
  code,
  request_id: expect.any(String),
  details,
})

export const PROBE = `kind: module
name: probe
description: Says hello
tags: network,quick
params:
  - name: depth
    default: "1"
  - name: flags
steps:
  - name: hello
    type: bash
    command: echo {{target}} {{depth}} {{flags}}
`

export const NEEDY = `kind: module
name: needy
params:
  - name: wordlist
    required: true
steps:
  - name: use
    type: bash
    command: echo {{wordlist}}
`

export const BOXED = `kind: module
name: boxed
runner: docker
runner_config:
  image: alpine:3
steps:
  - name: hello
    type: bash
    command: echo {{target}}
`

export const SURVEY = `kind: flow
name: survey
modules:
  - name: probe
    path: probe.yaml
`

export const BROKEN = `kind: module
name: broken
steps:
  - name: one
    type: nonsense
`

const WORKFLOWS = {
  'probe.yaml': PROBE,
  'needy.yaml': NEEDY,
  'boxed.yaml': BOXED,
  'survey.yaml': SURVEY,
  'broken.yaml': BROKEN,
}

const ROLES = ['viewer', 'operator', 'admin'] as const

/** A server on a separate database without loops and local slots: the API only. */
export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  await using scope = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-server-'))
  scope.defer(() => rm(folder, { recursive: true }))
  const database = options.database ?? scope.use(await testDatabase({ poolSize: 5 }))
  for (const [name, yaml] of Object.entries(options.workflows ?? WORKFLOWS)) {
    const file = join(folder, 'workflows', name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, yaml)
  }
  const config = readConfig(SETTINGS, {
    env: {},
    argvOverrides: {
      data_dir: join(folder, 'data'),
      'workflows.folders': [join(folder, 'workflows')],
      'http.port': 0,
      ...options.settings,
    },
  })
  const queue = options.master
    ? scope.use(
        await openRunQueue(
          options.redis === undefined
            ? { kind: 'postgres', url: database.url }
            : { kind: 'redis', url: options.redis },
          { farmId: await database.store.farmId(), role: 'master', log: silentLogger },
        ),
      )
    : undefined
  let firstToken = ''
  const context = scope.use(
    await createContext(
      config,
      {
        master: options.master ?? false,
        ...(options.reread && {
          settings: {
            file: '/etc/scanfarm/scanfarm.yaml',
            table: SETTINGS,
            origins: new Map([['http.port', 'command line']]),
            read: options.reread,
          },
        }),
      },
      {
        log: silentLogger,
        store: database.store,
        queue,
        checkResponses: true,
        limits: options.limits ?? {},
        consoleRoot: options.consoleRoot ?? folder,
        announce: (token) => (firstToken = token),
      },
    ),
  )
  const app = createApp(context, apiRoutes())
  const http = scope.use(await listenHttp(app, { host: '127.0.0.1', port: 0, drainMs: 5_000 }))
  const tokens = { viewer: newToken(), operator: newToken(), admin: newToken() }
  for (const role of ROLES)
    await database.store.access.addToken({ name: role, role, hash: tokenHash(tokens[role]), expiresAt: null })
  const as = (role: Role): Agent => request.agent(http.url).set('Authorization', `Bearer ${tokens[role]}`)
  const running = scope.move()
  return {
    url: http.url,
    admin: as('admin'),
    operator: as('operator'),
    viewer: as('viewer'),
    nobody: request.agent(http.url),
    database,
    store: database.store,
    runStore: database.runStore,
    artifacts: context.artifacts,
    folder,
    firstToken,
    tokens,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
