import { Type } from 'typebox'
import { CloudError, type CloudProvider, type MachineRequest } from '../../provider.ts'
import { callOnce, repeatSafe, type CallLimits } from '../calls.ts'
import { baseOf } from '../endpoint.ts'
import { unlessGone } from '../failed-answer.ts'
import { keptFor, PRICES_KEPT_MS } from '../kept.ts'
import { LABEL_KEYS, labelsToTags } from '../label-keys.ts'
import { OneServer, ServerPage, TypePage } from './answers.ts'
import { hetznerClient, NAME, problemOf, type HetznerClient } from './client.ts'
import { machineOf } from './machine.ts'

export interface HetznerSettings {
  readonly token: string | undefined
  /** A location such as `fsn1`. */
  readonly region: string | undefined
  readonly type: string | undefined
  /** Name or id. */
  readonly image: string | undefined
  /** Id of a private network that machines join too. */
  readonly network: string | undefined
  readonly endpoint: string | undefined
  readonly privateAddress: boolean
  readonly prices: Readonly<Record<string, number>>
}

const ENDPOINT = 'https://api.hetzner.cloud'
const REGION = 'nbg1'
const TYPE = 'cx33'
const IMAGE = 'ubuntu-24.04'
/** Made by cloud-init: the password of root is one-time here, and stands in the way of its key. */
const SSH_USER = 'scanfarm'
const PAGE_SIZE = 50
const MOST_PAGES = 200
/** What Hetzner takes as the value of a label, and we write into selectors. */
const LABEL_VALUE = /^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/

/** Machines are servers. */
export function createHetznerProvider(settings: HetznerSettings, limits: CallLimits = {}): CloudProvider {
  const { token, privateAddress } = settings
  const client: HetznerClient | undefined =
    token === undefined || token === ''
      ? undefined
      : hetznerClient(token, `${baseOf(settings.endpoint ?? ENDPOINT)}/v1`)

  const opened = (): HetznerClient => {
    if (client) return client
    throw new CloudError('credentials', `${NAME} needs a token: set cloud.hetzner.token`)
  }
  const read = async <T>(
    signal: AbortSignal,
    use: (client: HetznerClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const asked = opened()
    return repeatSafe((limited) => use(asked, limited), { ...limits, signal, problemOf })
  }

  const page = (number: number) => ({ page: String(number), per_page: String(PAGE_SIZE) })
  const prices = keptFor(PRICES_KEPT_MS, async (signal) => {
    const types = await allPages(async (number) => {
      const call = { method: 'GET', path: '/server_types', query: page(number) } as const
      const { server_types, meta } = await read(signal, (asked, limited) => asked(call, TypePage, limited))
      return { items: server_types, next: meta.pagination.next_page }
    })
    return new Map(types.map(({ name, prices: each }) => [name, each]))
  })

  return {
    name: NAME,
    defaults: { region: settings.region ?? REGION, type: settings.type ?? TYPE, sshUser: SSH_USER },

    /** Whether the token may write is told nowhere: one that may not is found out by the first machine. */
    async check(signal) {
      const call = { method: 'GET', path: '/servers', query: { page: '1', per_page: '1' } } as const
      await read(signal, (asked, limited) => asked(call, ServerPage, limited))
    },

    async create(request, signal) {
      if (request.spot)
        throw new CloudError('refused', `${NAME} has no spot machines; leave cloud_use_spot away`)
      const asked = opened()
      const call = { method: 'POST', path: '/servers', body: orderOf(request, settings) } as const
      const { server } = await callOnce((limited) => asked(call, OneServer, limited), {
        ...limits,
        signal,
        problemOf,
      })
      return machineOf(server, privateAddress)
    },

    async describe(id, signal) {
      const call = { method: 'GET', path: `/servers/${encodeURIComponent(id)}` } as const
      const found = await read(signal, (asked, limited) => unlessGone(asked(call, OneServer, limited)))
      return found && machineOf(found.server, privateAddress)
    },

    async destroy(id, signal) {
      const call = { method: 'DELETE', path: `/servers/${encodeURIComponent(id)}` } as const
      await read(signal, (asked, limited) => unlessGone(asked(call, Type.Unknown(), limited)))
    },

    async list(farm, signal) {
      const label_selector = `${LABEL_KEYS.farm}==${labelValue(farm)}`
      const servers = await allPages(async (number) => {
        const call = { method: 'GET', path: '/servers', query: { ...page(number), label_selector } } as const
        const answer = await read(signal, (asked, limited) => asked(call, ServerPage, limited))
        return { items: answer.servers, next: answer.meta.pagination.next_page }
      })
      return [...new Map(servers.map((server) => [server.id, machineOf(server, privateAddress)])).values()]
    },

    /** In the currency of the account, which is taken for US dollars: the operator's own prices say it better. */
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
  // Also with a private address: it is the only way out to what shall be scanned.
  public_net: { enable_ipv4: true, enable_ipv6: !privateAddress },
  ...(network !== undefined && { networks: [networkId(network)] }),
})

function networkId(network: string): number {
  if (/^\d{1,15}$/.test(network)) return Number(network)
  throw new CloudError('refused', `cloud.hetzner.network is the id of a network, a number; not "${network}"`)
}

function labelValue(value: string): string {
  if (LABEL_VALUE.test(value)) return value
  throw new CloudError('refused', `"${value}" is no value of a label: at most 63 letters, digits, . _ -`)
}

async function allPages<T>(
  load: (page: number) => Promise<{ readonly items: readonly T[]; readonly next: number | null }>,
): Promise<T[]> {
  const all: T[] = []
  let page: number | null = 1
  for (let loaded = 0; page !== null; loaded++) {
    if (loaded === MOST_PAGES)
      throw new CloudError('refused', `${NAME} has more than ${MOST_PAGES * PAGE_SIZE} of them`)
    const { items, next }: { readonly items: readonly T[]; readonly next: number | null } = await load(page)
    all.push(...items)
    page = next
  }
  return all
}
