import { setTimeout as delay } from 'node:timers/promises'
import { createMetrics, Secret, silentLogger } from '@scanfarm/platform'
import { openStore } from '@scanfarm/store'
import { folderSource, openLibrary } from '@scanfarm/engine'
import { createCatalog } from '../../src/catalog/catalog.ts'
import { Scopes } from '../../src/submission/scopes.ts'
import type { Config } from '../../src/settings.ts'
import { EventReceiver } from '../../src/triggers/event-receiver.ts'
import { sendOptions, WebhookSender } from '../../src/webhooks/webhook-sender.ts'

/** A master that receives events, ends jobs and sends messages until it is killed: `node master-program.ts URL FOLDER [MAIL]`. */
const [, , url = '', folder = '', mailUrl = ''] = process.argv
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
const http = { publicUrl: '' } as Config['http']
const config = { webhooks: { allowPrivate: true }, http, mail: { url: new Secret(mailUrl) } }
const options = sendOptions({ config, receiver, store })
const { webhooks, feed } = store
const sender = new WebhookSender({ webhooks, feed, receiver, options, log: silentLogger })
const { signal } = new AbortController()
let after = 0
const send = async (): Promise<void> => {
  after = (await store.jobs.settle(after, 100)).last ?? 0
  await sender.fanOutOnce(signal)
  await sender.deliverOnce(signal)
}
for (let turn = 0; ; turn += 1) {
  await send()
  const more = await receiver.receiveOnce(signal)
  // The first turn reads the workflows too, which takes a while on a busy machine.
  if (turn === 0) process.stdout.write('works\n')
  if (!more) await delay(20)
}
