import { Type } from 'typebox'
import {
  CloudError,
  type CloudProvider,
  type Machine,
  type MachineRequest,
  type MachineState,
} from '../../provider.ts'
import { cached, callOnce, callWithRetry, PRICES_TTL_MS, type CallLimits } from '../calls.ts'
import { LABEL_KEYS, labelsOfTags, labelsToTags } from '../labels.ts'
import { allPages, apiRoot, refuseSpot, stateWhenOff, undefinedIfNotFound, uniqueById } from '../rest-api.ts'
import type { HetznerSettings } from '../settings.ts'
import {
  hetznerClient,
  NAME,
  OneServer,
  problemOf,
  ServerPage,
  TypePage,
  type HetznerClient,
  type Server,
} from './client.ts'

const ENDPOINT = 'https://api.hetzner.cloud'
const REGION = 'nbg1'
const TYPE = 'cx33'
const IMAGE = 'ubuntu-24.04'
/** Created by cloud-init. Hetzner gives root a one-time password, which blocks logins by key. */
const SSH_USER = 'scanfarm'
const PAGES = { pageSize: 50, maxPages: 200 }
/** A valid label value, which is also safe in a label selector. */
const LABEL_VALUE = /^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/

/** Machines are servers. */
export function createHetznerProvider(settings: HetznerSettings, limits: CallLimits = {}): CloudProvider {
  const { token, privateAddress } = settings
  const configured: HetznerClient | undefined =
    token === undefined || token === ''
      ? undefined
      : hetznerClient(token, `${apiRoot(settings.endpoint ?? ENDPOINT)}/v1`)

  const opened = (): HetznerClient => {
    if (configured) return configured
    throw new CloudError('credentials', `${NAME} needs a token: set cloud.hetzner.token`)
  }
  const read = async <T>(
    signal: AbortSignal,
    use: (client: HetznerClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const client = opened()
    return callWithRetry((limited) => use(client, limited), { ...limits, signal, problemOf })
  }

  const page = (number: number) => ({ page: String(number), per_page: String(PAGES.pageSize) })
  const prices = cached(PRICES_TTL_MS, async (signal) => {
    const types = await allPages(NAME, PAGES, async (number) => {
      const call = { method: 'GET', path: '/server_types', query: page(number) } as const
      const { server_types, meta } = await read(signal, (client, limited) => client(call, TypePage, limited))
      return { items: server_types, next: meta.pagination.next_page }
    })
    return new Map(types.map(({ name, prices: each }) => [name, each]))
  })

  return {
    name: NAME,
    defaults: { region: settings.region ?? REGION, type: settings.type ?? TYPE, sshUser: SSH_USER },

    /** Hetzner does not tell whether a token may write: a read-only token fails at the first machine. */
    async check(signal) {
      const call = { method: 'GET', path: '/servers', query: { page: '1', per_page: '1' } } as const
      await read(signal, (client, limited) => client(call, ServerPage, limited))
    },

    async create(request, signal) {
      refuseSpot(NAME, request)
      const client = opened()
      const call = { method: 'POST', path: '/servers', body: orderOf(request, settings) } as const
      const { server } = await callOnce((limited) => client(call, OneServer, limited), {
        ...limits,
        signal,
        problemOf,
      })
      return machineOf(server, privateAddress)
    },

    async describe(id, signal) {
      const call = { method: 'GET', path: `/servers/${encodeURIComponent(id)}` } as const
      const found = await read(signal, (client, limited) =>
        undefinedIfNotFound(client(call, OneServer, limited)),
      )
      return found && machineOf(found.server, privateAddress)
    },

    async destroy(id, signal) {
      const call = { method: 'DELETE', path: `/servers/${encodeURIComponent(id)}` } as const
      await read(signal, (client, limited) => undefinedIfNotFound(client(call, Type.Unknown(), limited)))
    },

    async list(farm, signal) {
      const label_selector = `${LABEL_KEYS.farm}==${labelValue(farm)}`
      const servers = await allPages(NAME, PAGES, async (number) => {
        const call = { method: 'GET', path: '/servers', query: { ...page(number), label_selector } } as const
        const answer = await read(signal, (client, limited) => client(call, ServerPage, limited))
        return { items: answer.servers, next: answer.meta.pagination.next_page }
      })
      return uniqueById(servers.map((server) => machineOf(server, privateAddress)))
    },

    /** In the currency of the account, which is taken for US dollars. `cloud.prices` is for exact prices. */
    async price({ region, type }, signal) {
      const own = settings.prices[type]
      if (own !== undefined) return own
      const here = (await prices(signal)).get(type)?.find(({ location }) => location === region)
      return here && Number(here.price_hourly.net)
    },

    async [Symbol.asyncDispose]() {},
  }
}

const orderOf = (request: MachineRequest, { image, network, privateAddress }: HetznerSettings) => ({
  name: request.name,
  server_type: request.type,
  image: image ?? IMAGE,
  location: request.region,
  labels: Object.fromEntries(
    Object.entries(labelsToTags(request.labels)).map(([key, value]) => [key, labelValue(value)]),
  ),
  user_data: request.userData,
  start_after_create: true,
  // Also with a private address: machines reach the targets of scans through it.
  public_net: { enable_ipv4: true, enable_ipv6: !privateAddress },
  ...(network !== undefined && { networks: [networkId(network)] }),
})

function networkId(network: string): number {
  if (/^\d{1,15}$/.test(network)) return Number(network)
  throw new CloudError(
    'refused',
    `cloud.hetzner.network is "${network}"; expected the id of a network, a number`,
  )
}

function labelValue(value: string): string {
  if (LABEL_VALUE.test(value)) return value
  throw new CloudError(
    'refused',
    `"${value}" is not a valid label value: expected at most 63 letters, digits, ".", "_" or "-"`,
  )
}

const STATES: Readonly<Record<string, MachineState>> = {
  initializing: 'starting',
  starting: 'starting',
  migrating: 'starting',
  rebuilding: 'starting',
  // Reported while the physical host does not respond.
  unknown: 'starting',
  running: 'running',
}

const machineOf = (server: Server, privateAddress: boolean): Machine => ({
  id: String(server.id),
  name: server.name,
  state: (server.status === 'off' ? stateWhenOff(server.created) : STATES[server.status]) ?? 'stopping',
  address: privateAddress ? server.private_net[0]?.ip : publicAddress(server),
  port: 22,
  labels: labelsOfTags(server.labels),
  message: server.status === 'running' ? '' : `the server is ${server.status}`,
})

const publicAddress = ({ public_net: { ipv4, ipv6 } }: Server): string | undefined =>
  ipv4?.ip ?? ipv6?.ip.replace(/::\/64$/, '::1')
