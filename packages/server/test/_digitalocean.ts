import { once } from 'node:events'
import { createServer } from 'node:http'

/** The DigitalOcean endpoints that the server calls; no machines are created. */
export interface DigitalOceanAnswers extends AsyncDisposable {
  readonly url: string
  /** Sets the status of all following answers. */
  status: number
  /** How often droplets were listed. */
  readonly checks: number
  readonly prices: Record<string, number>
}

export const openDigitalOcean = async (): Promise<DigitalOceanAnswers> => {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    if (path === '/v2/droplets') state.checks += 1
    response.writeHead(state.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(state.status === 200 ? bodyOf(path) : REFUSALS[state.status]))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const state = {
    url: `http://127.0.0.1:${port}`,
    status: 200,
    checks: 0,
    prices: { 's-2vcpu-4gb': 0.03571 },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  const bodyOf = (path: string): object => {
    if (path === '/v2/droplets') return { droplets: [], links: {}, meta: { total: 0 } }
    const sizes = Object.entries(state.prices).map(([slug, price_hourly]) => ({ slug, price_hourly }))
    return { sizes, links: {}, meta: { total: sizes.length } }
  }
  return state
}

const REFUSALS: Readonly<Record<number, object>> = {
  401: { id: 'unauthorized', message: 'Unable to authenticate you' },
  503: { id: 'service_unavailable', message: 'Service Unavailable' },
}
