import type { createApiClient, modules } from 'dots-wrapper'
import { errorText } from '@scanfarm/platform'
import {
  CloudError,
  type CloudProvider,
  type Machine,
  type MachineRequest,
  type MachineState,
} from '../provider.ts'
import { CALL_TIMEOUT_MS, cached, callOnce, callWithRetry, PRICES_TTL_MS, type CallLimits } from './calls.ts'
import { property, textOf, unreachable } from './errors.ts'
import { farmTagWord, labelsOfTagWords, labelsToTagWords } from './labels.ts'
import {
  allPages,
  apiRoot,
  classifyByMessage,
  failedResponseOf,
  refuseSpot,
  responseError,
  undefinedIfNotFound,
  uniqueById,
  type MessagePatterns,
} from './rest-api.ts'
import type { DigitalOceanSettings } from './settings.ts'
import { loadSdk } from './sdk.ts'

const NAME = 'digitalocean'
const ENDPOINT = 'https://api.digitalocean.com'
const REGION = 'fra1'
const TYPE = 's-2vcpu-4gb'
const IMAGE = 'ubuntu-24-04-x64'
/** Created by cloud-init. DigitalOcean gives root a one-time password, which blocks logins by key. */
const SSH_USER = 'scanfarm'
const PAGES = { pageSize: 200, maxPages: 50 }

/** DigitalOcean has one error code for everything that it cannot process. */
const MESSAGES: MessagePatterns = {
  capacity:
    /(currently|temporarily) (unavailable|not available|sold out)|not available in (this|the selected) region|insufficient capacity|sold out/i,
  busy: /pending event|in progress/i,
  limit: /limit/i,
}

function problemOf(error: unknown): CloudError {
  const response = failedResponseOf(error, (body) => textOf(property(body, 'message')) ?? '')
  // Not passed on as a cause: the client's error contains the token.
  if (!response) return unreachable(NAME, new Error(errorText(error)))
  return responseError(NAME, response, classifyByMessage(response, MESSAGES))
}

type Client = ReturnType<typeof createApiClient>

/** Machines are droplets. */
export function createDigitalOceanProvider(
  settings: DigitalOceanSettings,
  limits: CallLimits = {},
): CloudProvider {
  const { token, privateAddress } = settings
  let opening: Promise<Client> | undefined

  const open = async (): Promise<Client> => {
    if (!token) throw new CloudError('credentials', `${NAME} needs a token: set cloud.digitalocean.token`)
    const { createApiClient } = await loadSdk(NAME, async () => await import('dots-wrapper'))
    return createApiClient({
      token,
      endpoint: `${apiRoot(settings.endpoint ?? ENDPOINT)}/v2`,
      // The client accepts no signal: this ends calls that were abandoned.
      requestTimeoutInMs: limits.timeoutMs ?? CALL_TIMEOUT_MS,
    })
  }
  const client = () => (opening ??= open())

  const read = async <T>(signal: AbortSignal, call: (client: Client) => Promise<T>): Promise<T> => {
    const opened = await client()
    return callWithRetry(() => call(opened), { ...limits, signal, problemOf })
  }

  const prices = cached(PRICES_TTL_MS, async (signal) => {
    const sizes = await allPages(NAME, PAGES, async (page) => {
      const { data } = await read(signal, ({ size }) => size.listSizes({ page, per_page: PAGES.pageSize }))
      return { items: data.sizes, next: nextPage(data, page) }
    })
    return new Map(sizes.map(({ slug, price_hourly }) => [slug, price_hourly]))
  })

  return {
    name: NAME,
    defaults: { region: settings.region ?? REGION, type: settings.type ?? TYPE, sshUser: SSH_USER },

    /** Makes a call that the farm needs in any case, so that a token limited to these calls passes. */
    async check(signal) {
      await read(signal, ({ droplet }) => droplet.listDroplets({ page: 1, per_page: 1 }))
    },

    async create(request, signal) {
      refuseSpot(NAME, request)
      const opened = await client()
      const { data } = await callOnce(() => opened.droplet.createDroplet(dropletOf(request, settings)), {
        ...limits,
        signal,
        problemOf,
      })
      return { ...machineOf(data.droplet, privateAddress), labels: request.labels }
    },

    async describe(id, signal) {
      const droplet_id = Number(id)
      const answer = await read(signal, ({ droplet }) =>
        undefinedIfNotFound(droplet.getDroplet({ droplet_id })),
      )
      return answer && machineOf(answer.data.droplet, privateAddress)
    },

    async destroy(id, signal) {
      const droplet_id = Number(id)
      await read(signal, ({ droplet }) => undefinedIfNotFound(droplet.deleteDroplet({ droplet_id })))
    },

    async list(farm, signal) {
      const tag_name = farmTagWord(farm)
      const droplets = await allPages(NAME, PAGES, async (page) => {
        const { data } = await read(signal, ({ droplet }) =>
          droplet.listDroplets({ page, per_page: PAGES.pageSize, tag_name }),
        )
        return { items: data.droplets, next: nextPage(data, page) }
      })
      return uniqueById(droplets.map((droplet) => machineOf(droplet, privateAddress)))
    },

    async price({ type }, signal) {
      return settings.prices[type] ?? (await prices(signal)).get(type)
    },

    async [Symbol.asyncDispose]() {},
  }
}

const dropletOf = (request: MachineRequest, { image, vpc }: DigitalOceanSettings) => ({
  name: request.name,
  region: request.region,
  size: request.type,
  image: image === undefined ? IMAGE : /^\d+$/.test(image) ? Number(image) : image,
  tags: labelsToTagWords(request.labels),
  user_data: request.userData,
  with_droplet_agent: false,
  ...(vpc !== undefined && { vpc_uuid: vpc }),
})

const nextPage = (body: object, page: number): number | undefined =>
  property(property(property(body, 'links'), 'pages'), 'next') === undefined ? undefined : page + 1

type Droplet = modules.droplet.IDroplet

/** Droplets in other states are off or archived. */
const STATES: Readonly<Record<string, MachineState>> = { new: 'starting', active: 'running' }

const machineOf = (droplet: Droplet, privateAddress: boolean): Machine => ({
  id: String(droplet.id),
  name: droplet.name,
  state: STATES[droplet.status] ?? 'stopping',
  address: addressOf(droplet, privateAddress),
  port: 22,
  labels: labelsOfTagWords(droplet.tags),
  message: droplet.status in STATES ? '' : `the droplet is ${droplet.status}`,
})

function addressOf({ networks }: Droplet, privateAddress: boolean): string | undefined {
  const wanted = privateAddress ? 'private' : 'public'
  const of = (addresses: Droplet['networks']['v4'] | undefined) =>
    addresses?.find(({ type }) => type === wanted)?.ip_address
  return of(networks.v4) ?? of(networks.v6)
}
