import { CreateLinodeSchema } from '@linode/validation'
import { LINODE_DESCRIPTION } from './linode-description.ts'
import { openApiRules } from './openapi-rules.ts'
import { openFakeApi, type Answer, type Asked, type FakeApi, type AnsweredFault } from './fake-api.ts'

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
const LOOKS = 2

interface Kept {
  readonly linode: Record<string, unknown> & { id: number; label: string; tags: string[]; status: string }
  readonly order: unknown
  looks: number
  lists: number
  looksLeft: number | undefined
}

export interface Linode extends FakeApi {
  there(): string[]
  given(name: string): { userData: string; order: unknown }
  plant(count: number, farm: string): void
  /** The status does not change any more. */
  set(name: string, fields: Readonly<Record<string, unknown>>): void
}

/** Linode by its documentation; create requests are also validated by the provider's own validators. */
export async function openLinode(): Promise<Linode> {
  const kept = new Map<number, Kept>()
  const rules = openApiRules(LINODE_DESCRIPTION)
  let lastId = 5_000

  const standIn = await openFakeApi({
    sortOf: ({ method }) => (method === 'POST' ? 'create' : method === 'DELETE' ? 'destroy' : 'read'),
    answer,
    failure,
    violations: (asked, given) => [...rules(asked, given), ...orderProblems(asked), ...filterProblems(asked)],
  })
  const alive = () => [...kept.values()].filter(({ looksLeft }) => looksLeft === undefined)
  const find = (name: string) => alive().find(({ linode }) => linode.label === name)

  return {
    ...standIn,
    there: () => alive().map(({ linode }) => linode.label),
    given: (name) => {
      const order = Object(find(name)?.order)
      return { userData: Buffer.from(String(order.metadata?.user_data), 'base64').toString(), order }
    },
    plant: (count, farm) => {
      for (let n = 0; n < count; n++)
        keep({ label: `planted-${farm}-${n}`, tags: [`scanfarm-farm:${farm}`] }).lists = LOOKS
    },
    set: (name, fields) => {
      const found = find(name)
      if (!found) return
      Object.assign(found.linode, fields)
      found.looks = -Infinity
    },
  }

  function answer(asked: Asked): Answer {
    if (asked.headers.authorization !== `Bearer ${TOKEN}`) return failure({ kind: 'denied' })
    const [, , what, kind, id] = asked.path.split('/')
    if (what === 'regions') {
      const capabilities = kind === REGION_WITHOUT_METADATA ? ['Linodes'] : ['Linodes', 'Metadata']
      return { status: 200, body: { id: kind, capabilities, status: 'ok' } }
    }
    if (kind === 'types') return { status: 200, body: pageOf(types(), asked) }
    if (id === undefined) return asked.method === 'POST' ? create(asked.body) : list(asked)
    const found = kept.get(Number(id))
    if (!found || found.looksLeft === 0) return refused(404, 'Not found')
    if (asked.method === 'DELETE') {
      found.looksLeft ??= LOOKS
      found.linode.status = 'deleting'
      return { status: 200, body: {} }
    }
    if (found.looksLeft !== undefined) found.looksLeft--
    else if (++found.looks > LOOKS) start(found)
    return { status: 200, body: found.linode }
  }

  function create(order: unknown): Answer {
    const { label, tags, image } = Object(order)
    if (image === 'no-such-image') return refused(400, 'image is not valid', 'image')
    if (find(label)) return refused(400, 'Label must be unique among your linodes', 'label')
    return { status: 200, body: keep({ label, tags, order }).linode }
  }

  function list(asked: Asked): Answer {
    const { tags: tag } = JSON.parse(String(asked.headers['x-filter'] ?? '{}'))
    const tagged = [...kept.values()].filter(({ linode }) => !tag || linode.tags.includes(tag))
    if (asked.query.get('page') === '1')
      for (const each of tagged) {
        each.lists++
        if (each.looksLeft) each.looksLeft--
      }
    const shown = tagged.filter(({ lists, looksLeft }) => lists > LOOKS && looksLeft !== 0)
    return {
      status: 200,
      body: pageOf(
        shown.map(({ linode }) => linode),
        asked,
      ),
    }
  }

  function keep({ label, tags, order }: { label: string; tags: string[]; order?: unknown }): Kept {
    const made: Kept = {
      linode: {
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
      },
      order,
      looks: 0,
      lists: 0,
      looksLeft: undefined,
    }
    kept.set(made.linode.id, made)
    return made
  }
}

/** Off for a moment between creation and start. */
function start({ linode }: Kept): void {
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
