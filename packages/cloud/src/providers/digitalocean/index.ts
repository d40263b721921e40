import type { createApiClient } from 'dots-wrapper'
import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProvider, type MachineRequest } from '../../provider.ts'
import { CALL_TIMEOUT_MS, callOnce, repeatSafe, unreachable, type CallLimits } from '../calls.ts'
import { baseOf } from '../endpoint.ts'
import {
  answerInside,
  problemByWords,
  problemOfAnswer,
  property,
  textOf,
  unlessGone,
  type Wording,
} from '../failed-answer.ts'
import { keptFor, PRICES_KEPT_MS } from '../kept.ts'
import { farmTag, tagWords } from '../tag-words.ts'
import { machineOf } from './machine.ts'

export interface DigitalOceanSettings {
  readonly token: string | undefined
  readonly region: string | undefined
  readonly type: string | undefined
  /** Slug or id. */
  readonly image: string | undefined
  /** Without it: the default VPC of the region. */
  readonly vpc: string | undefined
  readonly endpoint: string | undefined
  readonly privateAddress: boolean
  readonly prices: Readonly<Record<string, number>>
}

const NAME = 'digitalocean'
const ENDPOINT = 'https://api.digitalocean.com'
const REGION = 'fra1'
const TYPE = 's-2vcpu-4gb'
const IMAGE = 'ubuntu-24-04-x64'
/** Made by cloud-init: the password of root is one-time here, and stands in the way of its key. */
const SSH_USER = 'scanfarm'
const PAGE_SIZE = 200
/** Of one farm, or of sizes. */
const MOST_PAGES = 50

/** DigitalOcean has one code for all that it cannot process. */
const WORDING: Wording = {
  capacity:
    /(currently|temporarily) (unavailable|not available|sold out)|not available in (this|the selected) region|insufficient capacity|sold out/i,
  busy: /pending event|in progress/i,
  limit: /limit/i,
}

function problemOf(error: unknown): CloudError {
  const answer = answerInside(error, (body) => textOf(property(body, 'message')) ?? '')
  // The client's error itself is not passed on: it holds the token.
  if (!answer) return unreachable(NAME, new Error(errorText(error)))
  return problemOfAnswer(NAME, answer, problemByWords(answer, WORDING))
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
    const { createApiClient } = await import('dots-wrapper')
    return createApiClient({
      token,
      endpoint: `${baseOf(settings.endpoint ?? ENDPOINT)}/v2`,
      // The client takes no signal: this ends what nobody waits for any more.
      requestTimeoutInMs: limits.timeoutMs ?? CALL_TIMEOUT_MS,
    })
  }
  const client = () => (opening ??= open())

  const read = async <T>(signal: AbortSignal, call: (client: Client) => Promise<T>): Promise<T> => {
    const opened = await client()
    return repeatSafe(() => call(opened), { ...limits, signal, problemOf })
  }

  const prices = keptFor(PRICES_KEPT_MS, async (signal) => {
    const sizes = await allPages(async (page) => {
      const { data } = await read(signal, ({ size }) => size.listSizes({ page, per_page: PAGE_SIZE }))
      return { items: data.sizes, more: hasMore(data) }
    })
    return new Map(sizes.map(({ slug, price_hourly }) => [slug, price_hourly]))
  })

  return {
    name: NAME,
    defaults: { region: settings.region ?? REGION, type: settings.type ?? TYPE, sshUser: SSH_USER },

    /** Asks for what the farm needs anyway, so that a token made for nothing else is good enough. */
    async check(signal) {
      await read(signal, ({ droplet }) => droplet.listDroplets({ page: 1, per_page: 1 }))
    },

    async create(request, signal) {
      if (request.spot)
        throw new CloudError('refused', `${NAME} has no spot machines; leave cloud_use_spot away`)
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
      const answer = await read(signal, ({ droplet }) => unlessGone(droplet.getDroplet({ droplet_id })))
      return answer && machineOf(answer.data.droplet, privateAddress)
    },

    async destroy(id, signal) {
      const droplet_id = Number(id)
      await read(signal, ({ droplet }) => unlessGone(droplet.deleteDroplet({ droplet_id })))
    },

    async list(farm, signal) {
      const tag_name = farmTag(farm)
      const droplets = await allPages(async (page) => {
        const { data } = await read(signal, ({ droplet }) =>
          droplet.listDroplets({ page, per_page: PAGE_SIZE, tag_name }),
        )
        return { items: data.droplets, more: hasMore(data) }
      })
      return [
        ...new Map(droplets.map((droplet) => [droplet.id, machineOf(droplet, privateAddress)])).values(),
      ]
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
  tags: tagWords(request.labels),
  user_data: request.userData,
  with_droplet_agent: false,
  ...(vpc !== undefined && { vpc_uuid: vpc }),
})

async function allPages<T>(load: (page: number) => Promise<{ items: T[]; more: boolean }>): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { items, more } = await load(page)
    all.push(...items)
    if (!more) return all
  }
  throw new CloudError('refused', `${NAME} has more than ${MOST_PAGES * PAGE_SIZE} of them`)
}

const hasMore = (body: object): boolean =>
  property(property(property(body, 'links'), 'pages'), 'next') !== undefined
