import { Type, type Static } from 'typebox'
import {
  CloudError,
  type CloudProblem,
  type CloudProvider,
  type Machine,
  type MachineState,
} from '../provider.ts'
import type { CallLimits } from './calls.ts'
import { problemOfStatus, property, textOf } from './errors.ts'
import { LABEL_KEYS, labelsOfTags, labelsToTags } from './labels.ts'
import { createRestProvider, stateWhenOff } from './rest-provider.ts'
import type { HetznerSettings } from './settings.ts'

const IMAGE = 'ubuntu-24.04'
/** A valid label value, which is also safe in a label selector. */
const LABEL_VALUE = /^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/

const Address = Type.Union([Type.Object({ ip: Type.String() }), Type.Null()])
const Server = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  status: Type.String(),
  created: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  public_net: Type.Object({
    ipv4: Address,
    /** A network like `2001:db8::/64`; the server has its address ::1. */
    ipv6: Address,
  }),
  private_net: Type.Array(Type.Object({ ip: Type.String() })),
})
const OneServer = Type.Object({ server: Server })
const Paged = Type.Object({
  pagination: Type.Object({ next_page: Type.Union([Type.Integer(), Type.Null()]) }),
})
const Servers = Type.Object({ servers: Type.Array(Server), meta: Paged })
const ServerTypes = Type.Object({
  server_types: Type.Array(
    Type.Object({
      name: Type.String(),
      prices: Type.Array(
        Type.Object({ location: Type.String(), price_hourly: Type.Object({ net: Type.String() }) }),
      ),
    }),
  ),
  meta: Paged,
})

const CALLS = {
  // The response does not show whether a token may write: a read-only token fails at the first machine.
  list: { action: 'list servers', method: 'GET', path: '/v1/servers', answer: Servers },
  create: { action: 'create a server', method: 'POST', path: '/v1/servers', answer: OneServer },
  describe: { action: 'read a server', method: 'GET', path: '/v1/servers/{id}', answer: OneServer },
  destroy: { action: 'destroy a server', method: 'DELETE', path: '/v1/servers/{id}', answer: Type.Unknown() },
  kinds: { action: 'list server types', method: 'GET', path: '/v1/server_types', answer: ServerTypes },
} as const

/** The meaning of Hetzner's error codes; other codes are classified by the status. */
const PROBLEMS: Readonly<Record<string, CloudProblem>> = {
  resource_unavailable: 'capacity',
  placement_error: 'capacity',
  resource_limit_exceeded: 'refused',
  // The name may belong to a machine of an earlier create call that is not in lists yet.
  uniqueness_error: 'unavailable',
  conflict: 'unavailable',
  locked: 'unavailable',
  rate_limit_exceeded: 'unavailable',
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

/** Machines are servers. */
export function createHetznerProvider(settings: HetznerSettings, limits: CallLimits = {}): CloudProvider {
  const { image, network, privateAddress } = settings
  return createRestProvider(
    {
      name: 'hetzner',
      endpoint: 'https://api.hetzner.cloud',
      // The user is created by cloud-init. Hetzner gives root a one-time password, which blocks logins by key.
      defaults: { region: 'nbg1', type: 'cx33', sshUser: 'scanfarm' },
      pages: { sizeName: 'per_page', leastSize: 1, mostSize: 50, mostPages: 200 },
      calls: CALLS,
      explain(body) {
        const error = property(body, 'error')
        const code = textOf(property(error, 'code')) ?? ''
        const message = textOf(property(error, 'message')) ?? ''
        return { code, message: code === '' ? message : `${message} (${code})` }
      },
      problemOf: ({ status, code }) => PROBLEMS[code] ?? problemOfStatus(status),
      filterOf: (farm) => ({ query: { label_selector: `${LABEL_KEYS.farm}==${labelValue(farm)}` } }),
      orderOf: (request) => ({
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
      }),
      itemOf: ({ server }) => server,
      itemsOf: ({ servers, meta }) => ({ items: servers, next: meta.pagination.next_page }),
      machineOf: (server): Machine => ({
        id: String(server.id),
        name: server.name,
        state: (server.status === 'off' ? stateWhenOff(server.created) : STATES[server.status]) ?? 'stopping',
        address: privateAddress ? server.private_net[0]?.ip : publicAddress(server),
        port: 22,
        labels: labelsOfTags(server.labels),
        message: server.status === 'running' ? '' : `the server is ${server.status}`,
      }),
      // In the currency of the account, which is taken for US dollars. `cloud.prices` is for exact prices.
      pricesOf: ({ server_types, meta }) => ({
        items: server_types.map(({ name, prices }) => ({
          type: name,
          regions: prices.map(({ location, price_hourly }) => [location, Number(price_hourly.net)] as const),
        })),
        next: meta.pagination.next_page,
      }),
    },
    settings,
    limits,
  )
}

function networkId(network: string): number {
  if (/^\d{1,15}$/.test(network)) return Number(network)
  throw new CloudError(
    'refused',
    `hetzner in cloud.networks is "${network}"; expected the id of a network, a number`,
  )
}

function labelValue(value: string): string {
  if (LABEL_VALUE.test(value)) return value
  throw new CloudError(
    'refused',
    `"${value}" is not a valid label value: expected at most 63 letters, digits, ".", "_" or "-"`,
  )
}

const publicAddress = ({ public_net: { ipv4, ipv6 } }: Static<typeof Server>): string | undefined =>
  ipv4?.ip ?? ipv6?.ip.replace(/::\/64$/, '::1')
