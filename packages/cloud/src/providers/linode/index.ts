import { randomBytes } from 'node:crypto'
import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProvider, type MachineRequest } from '../../provider.ts'
import { callOnce, repeatSafe, unreachable, type CallLimits } from '../calls.ts'
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
import { openSdk, type OpenSdk, type Page, type Sdk } from './sdk.ts'

export interface LinodeSettings {
  readonly token: string | undefined
  readonly region: string | undefined
  readonly type: string | undefined
  /** Such as `linode/ubuntu24.04`; it needs cloud-init. */
  readonly image: string | undefined
  readonly endpoint: string | undefined
  readonly prices: Readonly<Record<string, number>>
}

const NAME = 'linode'
const ENDPOINT = 'https://api.linode.com'
const REGION = 'eu-central'
const TYPE = 'g6-standard-2'
const IMAGE = 'linode/ubuntu24.04'
/** Made by cloud-init. */
const SSH_USER = 'scanfarm'
const PAGE_SIZE = 500
const MOST_PAGES = 20
/** Of a region that hands user data to its machines. */
const METADATA = 'Metadata'
const MOST_REGIONS = 100

/** Linode has no codes: a sentence, and the field it is about. */
const WORDING: Wording = {
  capacity:
    /capacity|sold out|(currently|temporarily) (unavailable|not available)|not available in (this|the selected) (region|data ?center)/i,
  // A label that is taken: perhaps by the machine that was asked for before, and that is not in lists yet.
  busy: /busy|label must be unique/i,
  limit: /limit|quota/i,
}

/** Machines are Linodes. */
export function createLinodeProvider(settings: LinodeSettings, limits: CallLimits = {}): CloudProvider {
  const { token } = settings
  let opening: Promise<OpenSdk> | undefined
  const capabilities = new Map<string, (signal: AbortSignal) => Promise<readonly string[]>>()

  const open = async (): Promise<OpenSdk> => {
    if (!token) throw new CloudError('credentials', `${NAME} needs a token: set cloud.linode.token`)
    return openSdk(token, baseOf(settings.endpoint ?? ENDPOINT))
  }
  const opened = () => (opening ??= open())

  const read = async <T>(signal: AbortSignal, use: (sdk: Sdk) => Promise<T>): Promise<T> => {
    const { call } = await opened()
    return repeatSafe((limited) => call(limited, use), { ...limits, signal, problemOf })
  }

  const prices = keptFor(PRICES_KEPT_MS, async (signal) => {
    const types = await allPages((page) =>
      read(signal, (sdk) => sdk.getLinodeTypes({ page, page_size: PAGE_SIZE })),
    )
    return new Map(types.map((type) => [type.id, type]))
  })

  /** Without the service, a machine would come up that nobody can get into. */
  const needMetadata = async (region: string, signal: AbortSignal): Promise<void> => {
    const look =
      capabilities.get(region) ??
      keptFor(PRICES_KEPT_MS, async (asking) => {
        const answer = await read(asking, (sdk) => sdk.getRegion(region))
        return answer.capabilities
      })
    if (capabilities.size < MOST_REGIONS) capabilities.set(region, look)
    if ((await look(signal)).includes(METADATA)) return
    throw new CloudError('refused', `${NAME} has no metadata service in ${region}; choose another region`)
  }

  return {
    name: NAME,
    defaults: { region: settings.region ?? REGION, type: settings.type ?? TYPE, sshUser: SSH_USER },

    /** Asks for what the farm needs anyway, so that a token made for nothing else is good enough. */
    async check(signal) {
      await read(signal, (sdk) => sdk.getLinodes({ page: 1, page_size: 25 }, {}))
    },

    async create(request, signal) {
      if (request.spot)
        throw new CloudError('refused', `${NAME} has no spot machines; leave cloud_use_spot away`)
      const order = orderOf(request, settings.image ?? IMAGE)
      const { call } = await opened()
      await needMetadata(request.region, signal)
      const made = await callOnce((limited) => call(limited, (sdk) => sdk.createLinode(order)), {
        ...limits,
        signal,
        problemOf,
      })
      return { ...machineOf(made), labels: request.labels }
    },

    async describe(id, signal) {
      const found = await read(signal, (sdk) => unlessGone(sdk.getLinode(Number(id))))
      return found && machineOf(found)
    },

    async destroy(id, signal) {
      await read(signal, (sdk) => unlessGone(sdk.deleteLinode(Number(id))))
    },

    async list(farm, signal) {
      const tags = farmTag(farm)
      const found = await allPages((page) =>
        read(signal, (sdk) => sdk.getLinodes({ page, page_size: PAGE_SIZE }, { tags })),
      )
      const ours = found.filter((linode) => linode.tags.includes(tags))
      return [...new Map(ours.map((linode) => [linode.id, machineOf(linode)])).values()]
    },

    async price({ region, type }, signal) {
      const own = settings.prices[type]
      if (own !== undefined) return own
      const kind = (await prices(signal)).get(type)
      const there = kind?.region_prices.find(({ id }) => id === region)
      return there?.hourly ?? kind?.price.hourly ?? undefined
    },

    async [Symbol.asyncDispose]() {
      if (!opening) return
      const [sdk] = await Promise.allSettled([opening])
      if (sdk.status === 'fulfilled') sdk.value.close()
    },
  }
}

const orderOf = (request: MachineRequest, image: string) => ({
  label: request.name,
  region: request.region,
  type: request.type,
  image,
  // It must have one. Nobody ever learns it.
  root_pass: `aA1!${randomBytes(32).toString('base64url')}`,
  authorized_keys: [request.publicKey],
  tags: tagWords(request.labels),
  metadata: { user_data: Buffer.from(request.userData).toString('base64') },
  booted: true,
  // They cost.
  backups_enabled: false,
  private_ip: false,
})

async function allPages<T>(load: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { data, pages } = await load(page)
    all.push(...data)
    if (page >= pages) return all
  }
  throw new CloudError('refused', `${NAME} has more than ${MOST_PAGES * PAGE_SIZE} of them`)
}

function problemOf(error: unknown): CloudError {
  // What the SDK itself finds wrong with a request comes as a bare list.
  if (Array.isArray(error)) return new CloudError('refused', `${NAME} refuses: ${reasonsOf(error)}`)
  const answer = answerInside(error, (body) => reasonsOf(property(body, 'errors')))
  // The client's error itself is not passed on: it holds the token.
  if (!answer) return unreachable(NAME, new Error(errorText(error)))
  return problemOfAnswer(NAME, answer, problemByWords(answer, WORDING))
}

const reasonsOf = (errors: unknown): string =>
  (Array.isArray(errors) ? errors : [])
    .map((each) => {
      const field = textOf(property(each, 'field'))
      return `${textOf(property(each, 'reason')) ?? ''}${field ? ` (${field})` : ''}`
    })
    .join('; ')
