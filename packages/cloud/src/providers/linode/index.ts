import { randomBytes } from 'node:crypto'
import { errorText } from '@scanfarm/platform'
import {
  CloudError,
  type CloudProvider,
  type Machine,
  type MachineRequest,
  type MachineState,
} from '../../provider.ts'
import { cached, callOnce, callWithRetry, PRICES_TTL_MS, type CallLimits } from '../calls.ts'
import { property, textOf, unreachable } from '../errors.ts'
import { farmTagWord, labelsOfTagWords, labelsToTagWords } from '../labels.ts'
import {
  allPages,
  apiRoot,
  classifyByMessage,
  failedResponseOf,
  refuseSpot,
  responseError,
  stateWhenOff,
  undefinedIfNotFound,
  uniqueById,
  type MessagePatterns,
} from '../rest-api.ts'
import type { LinodeSettings } from '../settings.ts'
import { openSdk, type LinodeMachine, type OpenSdk, type Page, type Sdk } from './sdk.ts'

const NAME = 'linode'
const ENDPOINT = 'https://api.linode.com'
const REGION = 'eu-central'
const TYPE = 'g6-standard-2'
const IMAGE = 'linode/ubuntu24.04'
/** Created by cloud-init. */
const SSH_USER = 'scanfarm'
const PAGES = { pageSize: 500, maxPages: 20 }
/** Capability of regions that pass user data to machines. */
const METADATA = 'Metadata'
const MOST_REGIONS = 100

/** Linode has no error codes, only a message and the field that it is about. */
const MESSAGES: MessagePatterns = {
  capacity:
    /capacity|sold out|(currently|temporarily) (unavailable|not available)|not available in (this|the selected) (region|data ?center)/i,
  // The label may belong to a machine of an earlier create call that is not in lists yet.
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
    return openSdk(token, apiRoot(settings.endpoint ?? ENDPOINT))
  }
  const opened = () => (opening ??= open())

  const read = async <T>(signal: AbortSignal, use: (sdk: Sdk) => Promise<T>): Promise<T> => {
    const { call } = await opened()
    return callWithRetry((limited) => call(limited, use), { ...limits, signal, problemOf })
  }

  const prices = cached(PRICES_TTL_MS, async (signal) => {
    const types = await allPages(NAME, PAGES, (page) =>
      read(signal, (sdk) => sdk.getLinodeTypes(paging(page)).then(pageItems(page))),
    )
    return new Map(types.map((type) => [type.id, type]))
  })

  /** Without the metadata service a machine gets no user data, and no login is possible. */
  const needMetadata = async (region: string, signal: AbortSignal): Promise<void> => {
    const load =
      capabilities.get(region) ??
      cached(PRICES_TTL_MS, async (loading) => {
        const answer = await read(loading, (sdk) => sdk.getRegion(region))
        return answer.capabilities
      })
    if (capabilities.size < MOST_REGIONS) capabilities.set(region, load)
    if ((await load(signal)).includes(METADATA)) return
    throw new CloudError('refused', `${NAME} has no metadata service in ${region}; choose another region`)
  }

  return {
    name: NAME,
    defaults: { region: settings.region ?? REGION, type: settings.type ?? TYPE, sshUser: SSH_USER },

    /** Makes a call that the farm needs in any case, so that a token limited to these calls passes. */
    async check(signal) {
      await read(signal, (sdk) => sdk.getLinodes({ page: 1, page_size: 25 }, {}))
    },

    async create(request, signal) {
      refuseSpot(NAME, request)
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
      const found = await read(signal, (sdk) => undefinedIfNotFound(sdk.getLinode(Number(id))))
      return found && machineOf(found)
    },

    async destroy(id, signal) {
      await read(signal, (sdk) => undefinedIfNotFound(sdk.deleteLinode(Number(id))))
    },

    async list(farm, signal) {
      const tags = farmTagWord(farm)
      const found = await allPages(NAME, PAGES, (page) =>
        read(signal, (sdk) => sdk.getLinodes(paging(page), { tags }).then(pageItems(page))),
      )
      return uniqueById(found.filter((linode) => linode.tags.includes(tags)).map(machineOf))
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
  // The API requires a root password; it is discarded.
  root_pass: `aA1!${randomBytes(32).toString('base64url')}`,
  authorized_keys: [request.publicKey],
  tags: labelsToTagWords(request.labels),
  metadata: { user_data: Buffer.from(request.userData).toString('base64') },
  booted: true,
  // Backups are charged.
  backups_enabled: false,
  private_ip: false,
})

const paging = (page: number) => ({ page, page_size: PAGES.pageSize })

const pageItems =
  (page: number) =>
  <T>({ data, pages }: Page<T>): { items: T[]; next: number | undefined } => ({
    items: data,
    next: page < pages ? page + 1 : undefined,
  })

function problemOf(error: unknown): CloudError {
  // Errors that the SDK itself finds in a request are a plain list.
  if (Array.isArray(error)) return new CloudError('refused', `${NAME} refuses: ${reasonsOf(error)}`)
  const response = failedResponseOf(error, (body) => reasonsOf(property(body, 'errors')))
  // Not passed on as a cause: the client's error contains the token.
  if (!response) return unreachable(NAME, new Error(errorText(error)))
  return responseError(NAME, response, classifyByMessage(response, MESSAGES))
}

const reasonsOf = (errors: unknown): string =>
  (Array.isArray(errors) ? errors : [])
    .map((each) => {
      const field = textOf(property(each, 'field'))
      return `${textOf(property(each, 'reason')) ?? ''}${field ? ` (${field})` : ''}`
    })
    .join('; ')

const STATES: Readonly<Record<string, MachineState>> = {
  provisioning: 'starting',
  booting: 'starting',
  rebooting: 'starting',
  rebuilding: 'starting',
  migrating: 'starting',
  running: 'running',
}

const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/

const machineOf = (linode: LinodeMachine): Machine => {
  const state = linode.status === 'offline' ? stateWhenOff(`${linode.created}Z`) : STATES[linode.status]
  return {
    id: String(linode.id),
    name: linode.label,
    state: state ?? 'stopping',
    address: linode.ipv4.find((address) => !PRIVATE.test(address)) ?? linode.ipv6?.replace(/\/\d+$/, ''),
    port: 22,
    labels: labelsOfTagWords(linode.tags),
    message: linode.status === 'running' ? '' : `the Linode is ${linode.status.replace('_', ' ')}`,
  }
}
