import { setTimeout as delay } from 'node:timers/promises'
import { createMetrics, silentLogger } from '@scanfarm/platform'
import { openStore } from '@scanfarm/store'
import { folderSource, openLibrary } from '@scanfarm/engine'
import { createCatalog } from '../../src/catalog/catalog.ts'
import { Scopes } from '../../src/submission/scopes.ts'
import { EventReceiver } from '../../src/triggers/event-receiver.ts'

/** A master that only receives events until it is killed: `node master-program.ts URL FOLDER`. */
const [, , url = '', folder = ''] = process.argv
const store = await openStore({ url, poolSize: 2, applicationName: 'scanfarm test master' })
const sources = [folderSource(folder)]
const receiver = new EventReceiver({
  store,
  catalog: createCatalog(await openLibrary([], { sources }), sources),
  master: true,
  enabled: true,
  log: silentLogger,
  scopes: new Scopes(store.scopes, false, createMetrics()),
  signalCancel: async () => undefined,
})
for (let turn = 0; ; turn += 1) {
  const more = await receiver.receiveOnce(new AbortController().signal)
  // The first turn reads the workflows too, which takes a while on a busy machine.
  if (turn === 0) process.stdout.write('works\n')
  if (!more) await delay(20)
}
