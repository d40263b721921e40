import { CreateLinodeSchema } from '@linode/validation'
import { LINODE_DESCRIPTION } from './linode-description.ts'
import { openApiRules } from './openapi-rules.ts'
import type { Answer, AnsweredFault, Asked } from './fake-api.ts'
import { FakeMachines, openMachineApi, type MachineApi } from './fake-machines.ts'

// The package's types import its files without extensions, which Node's resolution does not find.
declare module '@linode/validation' {
  export const CreateLinodeSchema: {
    noUnknown(): { validateSync(value: unknown, options: { strict: boolean; abortEarly: boolean }): unknown }
  }
}

export const TOKEN = '0000000000000000000000000000000000000000000000000000000000000001'
export const QUOTA = "You've reached a limit for the number of active services on your account."
export const CAPACITY = 'We are out of capacity for this plan in the selected region.'
export const TYPE = 'g6-standard-2'
/** In REGION, which is more expensive than others. */
export const PRICE = 0.0432
export const REGION = 'br-gru'
export const REGION_WITHOUT_METADATA = 'old-region'

type Machine = Record<string, unknown> & { id: number; label: string; tags: string[]; status: string }

/** Linode by its documentation; create requests are also validated by the provider's own validators. */
export async function openLinode(): Promise<MachineApi> {
  const machines = new FakeMachines<Machine>(({ label }) => label, start)
  const rules = openApiRules(LINODE_DESCRIPTION)
  let lastId = 5_000

  return await openMachineApi({
    machines,
    answer,
    failure,
    violations: (asked, given) => [...rules(asked, given), ...orderProblems(asked), ...filterProblems(asked)],
    userDataOf: (order) => Buffer.from(String(Object(order).metadata?.user_data), 'base64').toString(),
    machine: (name, farm) => machine(name, [`scanfarm-farm:${farm}`]),
  })

  function answer(asked: Asked): Answer {
    if (asked.headers.authorization !== `Bearer ${TOKEN}`) return failure({ kind: 'denied' })
    const [, , what, kind, id] = asked.path.split('/')
    if (what === 'regions') {
      const capabilities = kind === REGION_WITHOUT_METADATA ? ['Linodes'] : ['Linodes', 'Metadata']
      return { status: 200, body: { id: kind, capabilities, status: 'ok' } }
    }
    if (kind === 'types') return { status: 200, body: pageOf(types(), asked) }
    if (id === undefined) return asked.method === 'POST' ? create(asked.body) : list(asked)
    const found = asked.method === 'DELETE' ? machines.delete(id) : machines.read(id)
    if (!found) return refused(404, 'Not found')
    if (asked.method !== 'DELETE') return { status: 200, body: found }
    found.status = 'deleting'
    return { status: 200, body: {} }
  }

  function create(order: unknown): Answer {
    const { label, tags, image } = Object(order)
    if (image === 'no-such-image') return refused(400, 'image is not valid', 'image')
    if (machines.has(label)) return refused(400, 'Label must be unique among your linodes', 'label')
    return { status: 200, body: machines.add(machine(label, tags), order) }
  }

  function list(asked: Asked): Answer {
    const { tags: tag } = JSON.parse(String(asked.headers['x-filter'] ?? '{}'))
    const isFirstPage = asked.query.get('page') === '1'
    const found = machines.list(isFirstPage, ({ tags }) => !tag || tags.includes(tag))
    return { status: 200, body: pageOf(found, asked) }
  }

  function machine(label: string, tags: string[]): Machine {
    return {
      id: ++lastId,
      label,
      status: 'provisioning',
      created: new Date().toISOString().slice(0, 19),
      ipv4: [],
      ipv6: null,
      tags,
      region: REGION,
      type: TYPE,
      has_user_data: true,
    }
  }
}

/** Off for a moment between creation and start. */
function start(linode: Machine): void {
  const next = { provisioning: 'offline', offline: 'booting', booting: 'running' }[linode.status]
  if (next === undefined) return
  linode.status = next
  Object.assign(linode, { ipv4: ['192.168.143.9', '203.0.113.9'], ipv6: '2001:db8::9/128' })
}

function orderProblems({ method, body }: Asked): string[] {
  if (method !== 'POST') return []
  try {
    CreateLinodeSchema.noUnknown().validateSync(body, { strict: true, abortEarly: false })
    return []
  } catch (error) {
    return [`@linode/validation: ${JSON.stringify(Object(error).errors ?? String(error))}`]
  }
}

function filterProblems({ headers }: Asked): string[] {
  const names = Object.keys(JSON.parse(String(headers['x-filter'] ?? '{}')))
  return names.filter((name) => name !== 'tags').map((name) => `filter: not by ${name}`)
}

const types = () => {
  const kind = (id: string) => ({
    id,
    price: { hourly: 0.036, monthly: 24 },
    region_prices: [{ id: REGION, hourly: PRICE, monthly: 28.8 }],
  })
  return [...Array.from({ length: 500 }, (_, n) => kind(`other-${n}`)), kind(TYPE)]
}

function pageOf(items: readonly unknown[], { query }: Asked): object {
  const page = Number(query.get('page') ?? 1)
  const size = Number(query.get('page_size') ?? 100)
  const data = items.slice((page - 1) * size, page * size)
  return { data, page, pages: Math.max(1, Math.ceil(items.length / size)), results: items.length }
}

const refused = (status: number, reason: string, field?: string): Answer => ({
  status,
  body: { errors: [{ reason, ...(field !== undefined && { field }) }] },
})

function failure(fault: AnsweredFault): Answer {
  switch (fault.kind) {
    case 'throttled':
      return { ...refused(429, 'Too many requests'), headers: { 'retry-after': String(fault.afterS) } }
    case 'broken':
      return refused(500, 'Internal Server Error')
    case 'quota':
      return refused(403, QUOTA)
    case 'capacity':
      return refused(400, CAPACITY)
    case 'denied':
      return refused(401, 'Invalid Token')
  }
}
