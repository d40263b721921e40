import { readFileSync } from 'node:fs'
import { openApiRules } from './openapi-rules.ts'
import type { Answer, AnsweredFault, Asked } from './fake-api.ts'
import { FakeMachines, openMachineApi, type MachineApi } from './fake-machines.ts'

export const TOKEN = 'dop_v1_0000000000000000000000000000000000000000000000000000000000000000'
export const QUOTA = 'creating this/these droplet(s) will exceed your droplet limit'
export const CAPACITY = 'Size is not available in this region.'
export const TYPE = 's-2vcpu-4gb'
export const PRICE = 0.03571
/** More than one page, so that the requested size is on the second one. */
const SIZES = 201

type Droplet = Record<string, unknown> & { id: number; name: string; tags: string[] }

/** DigitalOcean by its public API description, with which every request and response is validated. */
export async function openDigitalOcean(): Promise<MachineApi> {
  const document = JSON.parse(readFileSync(new URL('digitalocean.openapi.json', import.meta.url), 'utf8'))
  const machines = new FakeMachines<Droplet>(({ name }) => name, start)
  let lastId = 1_000

  return await openMachineApi({
    machines,
    answer: (asked) => withLimits(answer(asked)),
    failure: (fault) => withLimits(failure(fault)),
    violations: openApiRules(document),
    userDataOf: (order) => String(Object(order).user_data),
    machine: (name, farm) => droplet({ name, tags: [`scanfarm-farm:${farm}`], size: TYPE }),
  })

  function answer(asked: Asked): Answer {
    if (asked.headers.authorization !== `Bearer ${TOKEN}`) return failure({ kind: 'denied' })
    const [, , what, id] = asked.path.split('/')
    if (what === 'sizes') return { status: 200, body: pageOf('sizes', sizes(), asked) }
    if (id === undefined) return asked.method === 'POST' ? create(asked.body) : list(asked)
    const found = asked.method === 'DELETE' ? machines.delete(id) : machines.read(id)
    if (!found) return refused(404, 'not_found', 'The resource was not found.')
    return asked.method === 'DELETE' ? { status: 204 } : { status: 200, body: { droplet: found } }
  }

  function create(order: unknown): Answer {
    const { name, size, image, tags } = Object(order)
    if (image === 'no-such-image')
      return refused(422, 'unprocessable_entity', 'You specified an invalid image for Droplet creation.')
    const made = machines.add(droplet({ name, tags, size }), order)
    const action = {
      id: made.id + 1,
      rel: 'create',
      href: 'https://api.digitalocean.com/v2/actions/1',
    }
    // Tags appear later than the droplet.
    return { status: 202, body: { droplet: { ...made, tags: [] }, links: { actions: [action] } } }
  }

  function list(asked: Asked): Answer {
    const { query } = asked
    const tag = query.get('tag_name')
    const found = machines.list(query.get('page') === '1', ({ tags }) => tag === null || tags.includes(tag))
    return { status: 200, body: pageOf('droplets', found, asked) }
  }

  function droplet({ name, tags, size }: { name: string; tags: string[]; size: string }): Droplet {
    return {
      id: ++lastId,
      name,
      memory: 4096,
      vcpus: 2,
      disk: 80,
      locked: false,
      status: 'new',
      created_at: new Date().toISOString(),
      features: [],
      backup_ids: [],
      next_backup_window: null,
      snapshot_ids: [],
      image: { id: 1, distribution: 'Ubuntu', slug: 'ubuntu-24-04-x64', public: true },
      volume_ids: [],
      size: sizeOf(size),
      size_slug: size,
      networks: { v4: [], v6: [] },
      region: { name: 'Frankfurt 1', slug: 'fra1', features: [], available: true, sizes: [] },
      tags,
    }
  }
}

function start(droplet: Droplet): void {
  if (droplet['status'] !== 'new') return
  Object.assign(droplet, {
    status: 'active',
    networks: {
      v4: [
        { ip_address: '10.135.0.2', netmask: '255.255.0.0', gateway: '10.135.0.1', type: 'private' },
        { ip_address: '203.0.113.7', netmask: '255.255.240.0', gateway: '203.0.113.1', type: 'public' },
      ],
      v6: [{ ip_address: '2001:db8::7', netmask: 64, gateway: '2001:db8::1', type: 'public' }],
    },
  })
}

const sizeOf = (slug: string) => ({
  slug,
  memory: 4096,
  vcpus: 2,
  disk: 80,
  transfer: 4,
  price_monthly: 24,
  price_hourly: slug === TYPE ? PRICE : 1,
  regions: ['fra1'],
  available: true,
  description: 'Basic',
})

const sizes = () => [...Array.from({ length: SIZES - 1 }, (_, n) => sizeOf(`other-${n}`)), sizeOf(TYPE)]

function pageOf(name: string, items: readonly unknown[], { query, path }: Asked): object {
  const page = Number(query.get('page') ?? 1)
  const size = Number(query.get('per_page') ?? 20)
  const last = Math.max(1, Math.ceil(items.length / size))
  const at = (number: number) => `https://api.digitalocean.com${path}?page=${number}&per_page=${size}`
  return {
    [name]: items.slice((page - 1) * size, page * size),
    links: page < last ? { pages: { next: at(page + 1), last: at(last) } } : {},
    meta: { total: items.length },
  }
}

const refused = (status: number, id: string, message: string): Answer => ({ status, body: { id, message } })

function failure(fault: AnsweredFault): Answer {
  switch (fault.kind) {
    case 'throttled':
      return {
        ...refused(429, 'too_many_requests', 'API rate limit exceeded.'),
        headers: { 'retry-after': String(fault.afterS) },
      }
    case 'broken':
      return refused(500, 'server_error', 'Unexpected server-side error')
    case 'quota':
      return refused(422, 'unprocessable_entity', QUOTA)
    case 'capacity':
      return refused(422, 'unprocessable_entity', CAPACITY)
    case 'denied':
      return refused(401, 'unauthorized', 'Unable to authenticate you.')
  }
}

const withLimits = (answer: Answer): Answer => ({
  ...answer,
  headers: { 'ratelimit-limit': '5000', 'ratelimit-remaining': '4999', ...answer.headers },
})
