import { HETZNER_DESCRIPTION } from './hetzner-description.ts'
import { openApiRules } from './openapi-rules.ts'
import type { Answer, AnsweredFault, Asked } from './fake-api.ts'
import { FakeMachines, openMachineApi, type MachineApi } from './fake-machines.ts'

export const TOKEN = '0000000000000000000000000000000000000000000000000000000000000002'
export const QUOTA = 'server limit reached'
export const CAPACITY = 'error during placement'
export const TYPE = 'cx33'
/** In REGION. */
export const PRICE = 0.0088
export const REGION = 'nbg1'
/** More than one page, so that the requested type is on the second one. */
const TYPES = 51

type Labels = Readonly<Record<string, string>>
type Machine = Record<string, unknown> & { id: number; name: string; status: string; labels: Labels }

/** Hetzner Cloud by its documentation. */
export async function openHetzner(): Promise<MachineApi> {
  const machines = new FakeMachines<Machine>(({ name }) => name, start)
  let lastId = 40_000_000

  return await openMachineApi({
    machines,
    answer,
    failure,
    violations: openApiRules(HETZNER_DESCRIPTION),
    userDataOf: (order) => String(Object(order).user_data),
    machine: (name, farm) => machine(name, { 'scanfarm-farm': farm }),
  })

  function answer(asked: Asked): Answer {
    if (asked.headers.authorization !== `Bearer ${TOKEN}`) return failure({ kind: 'denied' })
    const [, , what, id] = asked.path.split('/')
    if (what === 'server_types') return { status: 200, body: pageOf('server_types', types(), asked) }
    if (id === undefined) return asked.method === 'POST' ? create(asked.body) : list(asked)
    const found = asked.method === 'DELETE' ? machines.delete(id) : machines.read(id)
    if (!found) return refused(404, 'not_found', `server with ID '${id}' not found`)
    if (asked.method !== 'DELETE') return { status: 200, body: { server: found } }
    found.status = 'deleting'
    return { status: 200, body: { action: { id: 1, command: 'delete_server', status: 'running' } } }
  }

  function create(order: unknown): Answer {
    const { name, labels, image } = Object(order)
    if (image === 'no-such-image') return refused(422, 'invalid_input', 'image no-such-image not found')
    if (machines.has(name)) return refused(409, 'uniqueness_error', 'server name is already used')
    const server = machines.add(machine(name, labels), order)
    const action = { id: 1, command: 'create_server', status: 'running' }
    return { status: 201, body: { server, action, root_password: 'one-time' } }
  }

  function list(asked: Asked): Answer {
    const [key = '', value] = asked.query.get('label_selector')?.split('==') ?? []
    const isFirstPage = asked.query.get('page') === '1'
    const found = machines.list(isFirstPage, ({ labels }) => key === '' || labels[key] === value)
    return { status: 200, body: pageOf('servers', found, asked) }
  }

  function machine(name: string, labels: Labels): Machine {
    return {
      id: ++lastId,
      name,
      status: 'initializing',
      created: new Date().toISOString(),
      labels,
      public_net: { ipv4: null, ipv6: null },
      private_net: [],
    }
  }
}

/** Off for a moment between creation and start. */
function start(server: Machine): void {
  const next = { initializing: 'off', off: 'starting', starting: 'running' }[server.status]
  if (next === undefined) return
  Object.assign(server, {
    status: next,
    public_net: { ipv4: { ip: '203.0.113.11' }, ipv6: { ip: '2001:db8:1::/64' } },
    private_net: [{ ip: '10.0.0.3' }],
  })
}

const types = () => {
  const kind = (name: string, net: number) => ({
    name,
    prices: [
      { location: 'fsn1', price_hourly: { net: '9.0000000000', gross: '9.9000000000' } },
      { location: REGION, price_hourly: { net: net.toFixed(10), gross: (net * 1.19).toFixed(10) } },
    ],
  })
  return [...Array.from({ length: TYPES - 1 }, (_, n) => kind(`other-${n}`, 1)), kind(TYPE, PRICE)]
}

function pageOf(name: string, items: readonly unknown[], { query }: Asked): object {
  const page = Number(query.get('page') ?? 1)
  const per_page = Number(query.get('per_page') ?? 25)
  const next_page = page * per_page < items.length ? page + 1 : null
  return {
    [name]: items.slice((page - 1) * per_page, page * per_page),
    meta: { pagination: { page, per_page, next_page } },
  }
}

const refused = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message, details: null } },
})

function failure(fault: AnsweredFault): Answer {
  switch (fault.kind) {
    case 'throttled':
      return {
        ...refused(429, 'rate_limit_exceeded', 'limit of 3600 requests per hour reached'),
        headers: { 'retry-after': String(fault.afterS) },
      }
    case 'broken':
      return refused(500, 'service_error', 'internal error')
    case 'quota':
      return refused(403, 'resource_limit_exceeded', QUOTA)
    case 'capacity':
      return refused(412, 'resource_unavailable', CAPACITY)
    case 'denied':
      return refused(401, 'unauthorized', 'unable to authenticate')
  }
}
