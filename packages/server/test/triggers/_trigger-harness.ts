import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMetrics, silentLogger } from '@scanfarm/platform'
import { openStore, type Store } from '@scanfarm/store'
import { asSuperuser, testDatabase } from '@scanfarm/store/testing'
import { folderSource, openLibrary } from '@scanfarm/engine'
import { createCatalog } from '../../src/catalog/catalog.ts'
import { Scopes } from '../../src/submission/scopes.ts'
import { EventReceiver } from '../../src/triggers/event-receiver.ts'

export interface TriggerHarness extends AsyncDisposable {
  readonly store: Store
  readonly url: string
  readonly folder: string
  /** The trigger components of one master, with separate database connections. */
  master(): Promise<EventReceiver & { readonly store: Store }>
  write(file: string, yaml: string): Promise<void>
  sql(statement: string): Promise<Record<string, unknown>[]>
}

export const NEVER = new AbortController().signal

/** A database and a folder of workflows, for masters without HTTP. */
export const openTriggerHarness = async (
  workflows: Readonly<Record<string, string>>,
): Promise<TriggerHarness> => {
  await using scope = new AsyncDisposableStack()
  const { store, url } = scope.use(await testDatabase({ poolSize: 4 }))
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-triggers-'))
  scope.defer(() => rm(folder, { recursive: true }))
  const write = (file: string, yaml: string) => writeFile(join(folder, file), yaml)
  for (const [file, yaml] of Object.entries(workflows)) await write(file, yaml)
  const masters = scope.use(new AsyncDisposableStack())
  const opened = scope.move()
  return {
    store,
    url,
    folder,
    write,
    async master() {
      const own = masters.use(await openStore({ url, poolSize: 3, applicationName: 'scanfarm test master' }))
      const sources = [folderSource(folder)]
      const catalog = createCatalog(await openLibrary([], { sources, freshForMs: 0 }), sources)
      const receiver = new EventReceiver({
        store: own,
        catalog,
        master: true,
        enabled: true,
        log: silentLogger,
        scopes: new Scopes(own.scopes, false, createMetrics()),
        files: () => ({ workspaces: join(folder, 'workspaces'), paths: [] }),
        signalCancel: async () => undefined,
      })
      masters.use(receiver)
      return Object.assign(receiver, { store: own })
    },
    sql: (statement) =>
      asSuperuser(async (client) => (await client.query<Record<string, unknown>>(statement)).rows, url),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export const module = (name: string, trigger: string): string => `kind: module
name: ${name}
params:
  - name: note
triggers:
  - name: main
    enabled: true
${trigger}
steps:
  - name: hello
    type: bash
    command: echo {{target}}
`
