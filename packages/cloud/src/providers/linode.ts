import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import {
  CloudError,
  type CloudProvider,
  type Machine,
  type MachineRequest,
  type MachineState,
} from '../provider.ts'
import { cached, PRICES_TTL_MS, type CallLimits } from './calls.ts'
import { property, textOf } from './errors.ts'
import { farmTagWord, labelsOfTagWords, labelsToTagWords } from './labels.ts'
import type { RestClient } from './rest-api.ts'
import { createRestProvider, problemByMessage, stateWhenOff } from './rest-provider.ts'
import type { LinodeSettings } from './settings.ts'

const NAME = 'linode'
const IMAGE = 'linode/ubuntu24.04'
const LABEL = /^(?!.*(--|__|\.\.))[a-zA-Z0-9][a-zA-Z0-9._-]{1,62}[a-zA-Z0-9]$/
/** Capability of regions that pass user data to machines. */
const METADATA = 'Metadata'
const MOST_REGIONS = 100

const Linode = Type.Object({
  id: Type.Integer(),
  label: Type.String(),
  status: Type.String(),
  /** In UTC, without the zone: `2026-01-31T12:00:00`. */
  created: Type.String(),
  ipv4: Type.Array(Type.String()),
  /** With the length of its prefix. */
  ipv6: Type.Union([Type.String(), Type.Null()]),
  tags: Type.Array(Type.String()),
})
const Linodes = Type.Object({ data: Type.Array(Linode), pages: Type.Integer() })
const Hourly = Type.Union([Type.Number(), Type.Null()])
const Kinds = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      price: Type.Object({ hourly: Hourly }),
      region_prices: Type.Array(Type.Object({ id: Type.String(), hourly: Hourly })),
    }),
  ),
  pages: Type.Integer(),
})
const Region = Type.Object({ capabilities: Type.Array(Type.String()) })

const CALLS = {
  list: { action: 'list Linodes', method: 'GET', path: '/v4beta/linode/instances', answer: Linodes },
  create: { action: 'create a Linode', method: 'POST', path: '/v4beta/linode/instances', answer: Linode },
  describe: { action: 'read a Linode', method: 'GET', path: '/v4beta/linode/instances/{id}', answer: Linode },
  destroy: {
    action: 'destroy a Linode',
    method: 'DELETE',
    path: '/v4/linode/instances/{id}',
    answer: Type.Unknown(),
  },
  kinds: { action: 'list types', method: 'GET', path: '/v4/linode/types', answer: Kinds },
  region: { action: 'read a region', method: 'GET', path: '/v4beta/regions/{id}', answer: Region },
} as const

/** Linode has no error codes, only a message and the field that it is about. */
const problemOf = problemByMessage({
  capacity:
    /capacity|sold out|(currently|temporarily) (unavailable|not available)|not available in (this|the selected) (region|data ?center)/i,
  // The label may belong to a machine of an earlier create call that is not in lists yet.
  busy: /busy|label must be unique/i,
  limit: /limit|quota/i,
})

/** Machines are Linodes. */
export function createLinodeProvider(settings: LinodeSettings, limits: CallLimits = {}): CloudProvider {
  return createRestProvider(
    {
      name: NAME,
      endpoint: 'https://api.linode.com',
      // The user is created by cloud-init.
      defaults: { region: 'eu-central', type: 'g6-standard-2', sshUser: 'scanfarm' },
      pages: { sizeName: 'page_size', leastSize: 25, mostSize: 500, mostPages: 20 },
      calls: CALLS,
      explain: (body) => ({ code: '', message: reasonsOf(property(body, 'errors')) }),
      problemOf,
      filterOf: (farm) => ({ headers: { 'x-filter': JSON.stringify({ tags: farmTagWord(farm) }) } }),
      orderOf: (request) => orderOf(request, settings.image ?? IMAGE),
      beforeCreate: metadataCheck(),
      itemOf: (linode) => linode,
      itemsOf: ({ data, pages }, page) => ({ items: data, next: page < pages ? page + 1 : undefined }),
      machineOf: (linode): Machine => ({
        id: String(linode.id),
        name: linode.label,
        state:
          (linode.status === 'offline' ? stateWhenOff(`${linode.created}Z`) : STATES[linode.status]) ??
          'stopping',
        address: linode.ipv4.find((address) => !PRIVATE.test(address)) ?? linode.ipv6?.replace(/\/\d+$/, ''),
        port: 22,
        labels: labelsOfTagWords(linode.tags),
        message: linode.status === 'running' ? '' : `the Linode is ${linode.status.replace('_', ' ')}`,
      }),
      pricesOf: ({ data, pages }, page) => ({
        items: data.map(({ id, price, region_prices }) => ({
          type: id,
          price: price.hourly,
          regions: region_prices.map(({ id: region, hourly }) => [region, hourly] as const),
        })),
        next: page < pages ? page + 1 : undefined,
      }),
    },
    settings,
    limits,
  )
}

/** Without the metadata service a machine gets no user data, and no login is possible. */
function metadataCheck() {
  const regions = new Map<string, (signal: AbortSignal) => Promise<readonly string[]>>()
  return async ({ region }: MachineRequest, client: RestClient, signal: AbortSignal): Promise<void> => {
    const load =
      regions.get(region) ??
      cached(PRICES_TTL_MS, async (loading) => {
        const { capabilities } = await client.call(CALLS.region, { path: { id: region } }, loading)
        return capabilities
      })
    if (regions.size < MOST_REGIONS) regions.set(region, load)
    if ((await load(signal)).includes(METADATA)) return
    throw new CloudError('refused', `${NAME} has no metadata service in ${region}; choose another region`)
  }
}

function orderOf(request: MachineRequest, image: string): object {
  if (!LABEL.test(request.name))
    throw new CloudError(
      'refused',
      `"${request.name}" is not a valid label of ${NAME}: expected 3 to 64 letters, digits, "-", "_" or "."`,
    )
  return {
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
  }
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
