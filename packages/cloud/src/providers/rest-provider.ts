import type { Static, TSchema } from 'typebox'
import {
  CloudError,
  type CloudProblem,
  type CloudProvider,
  type Machine,
  type MachineRequest,
} from '../provider.ts'
import { cached, PRICES_TTL_MS, type CallLimits } from './calls.ts'
import { problemOfStatus } from './errors.ts'
import {
  apiRoot,
  restClient,
  type Arguments,
  type Call,
  type Failure,
  type RestApi,
  type RestClient,
} from './rest-api.ts'

/** A page of a list. `next` is the number of the next page; undefined or null on the last one. */
interface Page<T> {
  readonly items: readonly T[]
  readonly next: number | null | undefined
}

/** US dollars an hour. */
interface Price {
  readonly type: string
  readonly price?: number | null
  /** Regions with another price. */
  readonly regions?: readonly (readonly [region: string, price: number | null])[]
}

/** DigitalOcean, Hetzner and Linode: a token, numbered pages, and a machine that one call creates. */
interface RestTable<Item, One extends TSchema, Some extends TSchema, Kinds extends TSchema> extends Pick<
  RestApi,
  'explain' | 'problemOf'
> {
  readonly name: 'digitalocean' | 'hetzner' | 'linode'
  readonly endpoint: string
  /** Defaults of region and type, and the user that cloud-init creates. */
  readonly defaults: CloudProvider['defaults']
  /** The query parameter for the size of a page, the sizes that the provider accepts, and the bound of a list. */
  readonly pages: {
    readonly sizeName: string
    readonly leastSize: number
    readonly mostSize: number
    readonly mostPages: number
  }
  readonly calls: {
    readonly create: Call<One>
    readonly describe: Call<One>
    readonly destroy: Call
    readonly list: Call<Some>
    readonly kinds: Call<Kinds>
  }
  /** Selects the machines of the farm in `list`. */
  filterOf(farm: string): Arguments
  orderOf(request: MachineRequest): object
  /** Refuses a request that the provider would accept, but whose machine could not be used. */
  beforeCreate?(request: MachineRequest, client: RestClient, signal: AbortSignal): Promise<void>
  itemOf(one: Static<One>): Item
  itemsOf(some: Static<Some>, page: number): Page<Item>
  machineOf(item: Item): Machine
  pricesOf(kinds: Static<Kinds>, page: number): Page<Price>
}

interface RestSettings {
  readonly token: string | undefined
  readonly region: string | undefined
  readonly type: string | undefined
  readonly endpoint: string | undefined
}

export function createRestProvider<Item, One extends TSchema, Some extends TSchema, Kinds extends TSchema>(
  table: RestTable<Item, One, Some, Kinds>,
  { token, region, type, endpoint }: RestSettings,
  limits: CallLimits,
): CloudProvider {
  const { name, calls, defaults, pages } = table
  const client = restClient({
    provider: name,
    base: apiRoot(endpoint ?? table.endpoint),
    remedy: `check ${name} in cloud.credentials`,
    limits,
    async token() {
      if (token) return token
      throw new CloudError('credentials', `${name} needs a token: set cloud.${name}.token`)
    },
    explain: table.explain,
    problemOf: table.problemOf,
  })

  const paging = (page: number, size: number) => ({ page: String(page), [pages.sizeName]: String(size) })

  const allPages = async <S extends TSchema, T>(
    call: Call<S>,
    given: Arguments,
    read: (answer: Static<S>, page: number) => Page<T>,
    signal: AbortSignal,
  ): Promise<T[]> => {
    const all: T[] = []
    let page = 1
    for (let loaded = 0; loaded < pages.mostPages; loaded++) {
      const query = { ...paging(page, pages.mostSize), ...given.query }
      const { items, next } = read(await client.call(call, { ...given, query }, signal), page)
      all.push(...items)
      if (next === undefined || next === null) return all
      page = next
    }
    throw new CloudError('refused', `${name} lists more than ${pages.mostPages * pages.mostSize} items`)
  }

  const prices = cached(PRICES_TTL_MS, async (signal) => {
    const all = await allPages(calls.kinds, {}, table.pricesOf, signal)
    return new Map(all.map((price) => [price.type, price]))
  })

  return {
    name,
    defaults: { ...defaults, region: region ?? defaults.region, type: type ?? defaults.type },

    /** Makes a call that the farm needs in any case, so that a token limited to these calls passes. */
    async check(signal) {
      await client.call(calls.list, { query: paging(1, pages.leastSize) }, signal)
    },

    async create(request, signal) {
      if (request.spot)
        throw new CloudError('refused', `${name} has no spot machines: leave out cloud_use_spot`)
      const body = table.orderOf(request)
      await table.beforeCreate?.(request, client, signal)
      const made = table.machineOf(table.itemOf(await client.call(calls.create, { body }, signal)))
      // Some providers add the labels after the response.
      return { ...made, labels: request.labels }
    },

    async describe(id, signal) {
      const found = await client.find(calls.describe, { path: { id } }, signal)
      return found === undefined ? undefined : table.machineOf(table.itemOf(found))
    },

    async destroy(id, signal) {
      await client.find(calls.destroy, { path: { id } }, signal)
    },

    async list(farm, signal) {
      const items = await allPages(calls.list, table.filterOf(farm), table.itemsOf, signal)
      const machines = items.map(table.machineOf).filter(({ labels }) => labels.farm === farm)
      // Machines may move between pages while they are read.
      return [...new Map(machines.map((machine) => [machine.id, machine])).values()]
    },

    async price(kind, signal) {
      const found = (await prices(signal)).get(kind.type)
      const [, here] = found?.regions?.find(([each]) => each === kind.region) ?? []
      return here ?? found?.price ?? undefined
    },

    async [Symbol.asyncDispose]() {},
  }
}

/** Recognises errors by their messages, for providers without error codes. */
interface MessagePatterns {
  /** No machine of the requested kind is available. */
  readonly capacity: RegExp
  /** A temporary condition: the same call may succeed later. */
  readonly busy: RegExp
  /** A limit of the account, which comes as 403 like a bad token. */
  readonly limit: RegExp
}

export const problemByMessage =
  (patterns: MessagePatterns) =>
  ({ status, message }: Failure): CloudProblem => {
    if (status === 401 || status === 429) return problemOfStatus(status)
    if (patterns.capacity.test(message)) return 'capacity'
    if (status >= 500 || patterns.busy.test(message)) return 'unavailable'
    if (status === 403 && patterns.limit.test(message)) return 'refused'
    return problemOfStatus(status)
  }

/** Some providers report a machine as off for a moment between its creation and its first start. */
const FIRST_START_MS = 300_000

/** State of a machine that is powered off: a new one is about to start, an old one is of no use any more. */
export const stateWhenOff = (createdAt: string, nowMs: number = Date.now()): 'starting' | 'stopping' =>
  nowMs - Date.parse(createdAt) < FIRST_START_MS ? 'starting' : 'stopping'
