import { Type, type Static } from 'typebox'
import type { CloudProvider, Machine, MachineState } from '../provider.ts'
import type { CallLimits } from './calls.ts'
import { property, textOf } from './errors.ts'
import { farmTagWord, labelsOfTagWords, labelsToTagWords } from './labels.ts'
import { createRestProvider, problemByMessage } from './rest-provider.ts'
import type { DigitalOceanSettings } from './settings.ts'

const IMAGE = 'ubuntu-24-04-x64'

const Addresses = Type.Optional(Type.Array(Type.Object({ ip_address: Type.String(), type: Type.String() })))
const Droplet = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  status: Type.String(),
  tags: Type.Array(Type.String()),
  networks: Type.Object({ v4: Addresses, v6: Addresses }),
})
const OneDroplet = Type.Object({ droplet: Droplet })
/** Of a list: `pages.next` is missing on the last page. */
const Links = Type.Optional(
  Type.Object({ pages: Type.Optional(Type.Object({ next: Type.Optional(Type.String()) })) }),
)
const Droplets = Type.Object({ droplets: Type.Array(Droplet), links: Links })
const Sizes = Type.Object({
  sizes: Type.Array(Type.Object({ slug: Type.String(), price_hourly: Type.Number() })),
  links: Links,
})

const CALLS = {
  list: { action: 'list droplets', method: 'GET', path: '/v2/droplets', answer: Droplets },
  create: { action: 'create a droplet', method: 'POST', path: '/v2/droplets', answer: OneDroplet },
  describe: { action: 'read a droplet', method: 'GET', path: '/v2/droplets/{id}', answer: OneDroplet },
  destroy: {
    action: 'destroy a droplet',
    method: 'DELETE',
    path: '/v2/droplets/{id}',
    answer: Type.Unknown(),
  },
  kinds: { action: 'list sizes', method: 'GET', path: '/v2/sizes', answer: Sizes },
} as const

/** DigitalOcean has one error code for everything that it cannot process. */
const problemOf = problemByMessage({
  capacity:
    /(currently|temporarily) (unavailable|not available|sold out)|not available in (this|the selected) region|insufficient capacity|sold out/i,
  busy: /pending event|in progress/i,
  limit: /limit/i,
})

/** Droplets in other states are off or archived. */
const STATES: Readonly<Record<string, MachineState>> = { new: 'starting', active: 'running' }

/** Machines are droplets. */
export function createDigitalOceanProvider(
  settings: DigitalOceanSettings,
  limits: CallLimits = {},
): CloudProvider {
  const { image, vpc, privateAddress } = settings
  return createRestProvider(
    {
      name: 'digitalocean',
      endpoint: 'https://api.digitalocean.com',
      // The user is created by cloud-init. DigitalOcean gives root a one-time password, which blocks logins by key.
      defaults: { region: 'fra1', type: 's-2vcpu-4gb', sshUser: 'scanfarm' },
      pages: { sizeName: 'per_page', leastSize: 1, mostSize: 200, mostPages: 50 },
      calls: CALLS,
      explain: (body) => ({ code: '', message: textOf(property(body, 'message')) ?? '' }),
      problemOf,
      filterOf: (farm) => ({ query: { tag_name: farmTagWord(farm) } }),
      orderOf: (request) => ({
        name: request.name,
        region: request.region,
        size: request.type,
        image: image === undefined ? IMAGE : /^\d+$/.test(image) ? Number(image) : image,
        tags: labelsToTagWords(request.labels),
        user_data: request.userData,
        with_droplet_agent: false,
        ...(vpc !== undefined && { vpc_uuid: vpc }),
      }),
      itemOf: ({ droplet }) => droplet,
      itemsOf: ({ droplets, links }, page) => ({ items: droplets, next: nextPage(links, page) }),
      machineOf: (droplet): Machine => ({
        id: String(droplet.id),
        name: droplet.name,
        state: STATES[droplet.status] ?? 'stopping',
        address: addressOf(droplet, privateAddress),
        port: 22,
        labels: labelsOfTagWords(droplet.tags),
        message: droplet.status in STATES ? '' : `the droplet is ${droplet.status}`,
      }),
      pricesOf: ({ sizes, links }, page) => ({
        items: sizes.map(({ slug, price_hourly }) => ({ type: slug, price: price_hourly })),
        next: nextPage(links, page),
      }),
    },
    settings,
    limits,
  )
}

const nextPage = (links: Static<typeof Links> | undefined, page: number): number | undefined =>
  links?.pages?.next === undefined ? undefined : page + 1

function addressOf(
  { networks: { v4, v6 } }: Static<typeof Droplet>,
  privateAddress: boolean,
): string | undefined {
  const wanted = privateAddress ? 'private' : 'public'
  const found = v4?.find(({ type }) => type === wanted) ?? v6?.find(({ type }) => type === wanted)
  return found?.ip_address
}
