import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import type { CloudProvider, Machine, MachineRequest } from '@scanfarm/cloud'
import type { FakeCloud } from '@scanfarm/cloud/testing'

/** A call of a provider's method, as JSON. */
interface Call {
  readonly create?: MachineRequest
  readonly describe?: string
  readonly destroy?: string
  readonly list?: string
}

export interface Gate extends AsyncDisposable {
  readonly url: string
}

/** Serves the fake cloud of this process to another one, so that machines outlive that process. */
export const openGate = async (cloud: FakeCloud): Promise<Gate> => {
  const answer = async (call: Call): Promise<unknown> => {
    if (call.create !== undefined) return await cloud.create(call.create)
    if (call.describe !== undefined) return (await cloud.describe(call.describe)) ?? null
    if (call.destroy !== undefined) return (await cloud.destroy(call.destroy)) ?? null
    return await cloud.list(call.list ?? '')
  }
  const server = createServer((request, response) => {
    void json(request)
      .then((call) => answer(call as Call))
      .then((body) => response.end(JSON.stringify(body)))
      .catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A client of the served cloud. */
export const providerBehind = (url: string): CloudProvider => {
  const ask = async <T>(call: Call, signal: AbortSignal): Promise<T> =>
    (await (await fetch(url, { method: 'POST', body: JSON.stringify(call), signal })).json()) as T
  return {
    name: 'local',
    defaults: { region: 'here', type: 'small', sshUser: 'scanfarm-test' },
    async check() {},
    create: (request, signal) => ask<Machine>({ create: request }, signal),
    describe: async (id, signal) => (await ask<Machine | null>({ describe: id }, signal)) ?? undefined,
    destroy: async (id, signal) => void (await ask({ destroy: id }, signal)),
    list: (farm, signal) => ask<Machine[]>({ list: farm }, signal),
    price: async () => 0.01,
    async [Symbol.asyncDispose]() {},
  }
}
