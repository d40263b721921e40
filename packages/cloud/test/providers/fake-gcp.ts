import type { CreateRequest } from './conformance.ts'
import { GCP_DESCRIPTION } from './gcp-description.ts'
import { openApiRules } from './openapi-rules.ts'
import type { Answer, Asked, Cloud, AnsweredFault } from './fake-api.ts'

// Requests are validated with Google's API description. The rules for names, labels, spot machines and request ids, which
// are only in its documentation, are implemented here.

export interface GcpCloud extends Cloud {
  there(): string[]
  createRequest(name: string): CreateRequest
  plant(count: number, farm: string): void
  insertedOf(name: string): Inserted | undefined
  /** The operation of the next machine fails with this code. */
  failNext(code: string, message: string, status: number): void
}

export interface Inserted {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly machineType: string
  readonly scheduling?: Readonly<Record<string, unknown>>
  readonly metadata?: { readonly items?: readonly { readonly key: string; readonly value: string }[] }
  readonly networkInterfaces?: readonly { readonly accessConfigs?: readonly object[] }[]
  readonly disks?: readonly {
    readonly initializeParams?: { readonly labels?: object; readonly sourceImage?: string }
  }[]
}

interface Kept {
  readonly zone: string
  readonly inserted: Inserted
  status: 'PROVISIONING' | 'RUNNING' | 'STOPPING'
  readonly address: number
}

interface Failure {
  readonly code: string
  readonly message: string
  readonly status: number
}

interface Operation {
  readonly zone: string
  readonly instance: string
  readonly failure: Failure | undefined
  polls: number
}

export const TOKEN = 'ya29.the-token'
export const PROJECT = 'the-project'
export const WORDS = {
  quota: "Quota 'CPUS' exceeded. Limit: 24.0 in region us-central1.",
  capacity:
    "The zone 'projects/the-project/zones/us-central1-a' does not have enough resources available to fulfill the request.",
}
const PAGE_SIZE = 10
const REGION_OF_ZONE = /^([a-z]+-[a-z]+\d+)-[a-z]$/

export function gcpCloud(): GcpCloud {
  const kept = new Map<string, Kept>()
  const operations = new Map<string, Operation>()
  const requests = new Map<string, string>()
  const failures: Failure[] = []
  let addresses = 0

  const instanceOf = ({ zone, inserted, status, address }: Kept) => ({
    id: String(1_000 + address),
    name: inserted.name,
    zone: `https://www.googleapis.com/compute/v1/projects/${PROJECT}/zones/${zone}`,
    status,
    labels: inserted.labels ?? {},
    networkInterfaces: [
      {
        networkIP: `10.0.0.${address}`,
        accessConfigs: (inserted.networkInterfaces?.[0]?.accessConfigs ?? []).map((config) => ({
          ...config,
          ...(status === 'RUNNING' && { natIP: `203.0.113.${address}` }),
        })),
      },
    ],
  })

  const operationOf = (name: string, { failure, polls }: Operation) => ({
    name,
    status: polls > 1 ? 'DONE' : 'RUNNING',
    ...(polls > 1 &&
      failure && {
        error: { errors: [{ code: failure.code, message: failure.message }] },
        httpErrorStatusCode: failure.status,
        httpErrorMessage: 'FORBIDDEN',
      }),
  })

  const insert = (zone: string, inserted: Inserted, requestId: string): Answer => {
    const known = requests.get(requestId)
    const before = known === undefined ? undefined : operations.get(known)
    if (known !== undefined && before) return { status: 200, body: operationOf(known, before) }
    if (kept.has(`${zone}/${inserted.name}`))
      return refusal(
        409,
        'alreadyExists',
        `The resource 'zones/${zone}/instances/${inserted.name}' already exists`,
      )
    const broken = brokenRule(zone, inserted)
    if (broken) return refusal(400, 'invalid', broken)
    const failure = failures.shift()
    const name = `operation-${operations.size + 1}`
    const operation = { zone, instance: inserted.name, failure, polls: 0 }
    operations.set(name, operation)
    requests.set(requestId, name)
    if (!failure)
      kept.set(`${zone}/${inserted.name}`, { zone, inserted, status: 'PROVISIONING', address: ++addresses })
    return { status: 200, body: operationOf(name, operation) }
  }

  const get = (key: string): Answer => {
    const found = kept.get(key)
    if (!found) return refusal(404, 'notFound', `The resource '${key}' was not found`)
    const body = instanceOf(found)
    if (found.status === 'PROVISIONING') found.status = 'RUNNING'
    if (found.status === 'STOPPING') kept.delete(key)
    return { status: 200, body }
  }

  const remove = (zone: string, instance: string): Answer => {
    const found = kept.get(`${zone}/${instance}`)
    if (!found) return refusal(404, 'notFound', `The resource '${zone}/${instance}' was not found`)
    found.status = 'STOPPING'
    return { status: 200, body: { name: 'operation-delete', status: 'RUNNING' } }
  }

  const list = (query: URLSearchParams): Answer => {
    const [, key, value] = /^labels\.([a-z-]+) = "([^"]*)"$/.exec(query.get('filter') ?? '') ?? []
    if (!key) return refusal(400, 'invalid', "Invalid value for field 'filter'")
    const all = [...kept.values()].filter(({ inserted }) => inserted.labels?.[key] === value)
    const from = Number(query.get('pageToken') ?? 0)
    const page = all.slice(from, from + Math.min(PAGE_SIZE, Number(query.get('maxResults') ?? 500)))
    const zones = new Set(page.map(({ zone }) => zone))
    // Empty zones are listed with a warning.
    const items: Record<string, object> = { 'zones/us-east1-b': { warning: { code: 'NO_RESULTS_ON_PAGE' } } }
    for (const zone of zones)
      items[`zones/${zone}`] = { instances: page.filter((one) => one.zone === zone).map(instanceOf) }
    const more = from + page.length < all.length
    for (const one of page) if (one.status === 'STOPPING') kept.delete(`${one.zone}/${one.inserted.name}`)
    return { status: 200, body: { items, ...(more && { nextPageToken: String(from + page.length) }) } }
  }

  const done = (asked: Asked): Answer => {
    const [, , , , project, place = '', zone = '', what, name = ''] = asked.path.split('/')
    if (project !== PROJECT)
      return refusal(404, 'notFound', `The resource 'projects/${project}' was not found`)
    if (place === 'aggregated') return list(asked.query)
    if (!REGION_OF_ZONE.test(zone))
      return refusal(400, 'invalid', `Invalid value for field 'zone': '${zone}'. Unknown zone.`)
    if (what === 'operations') {
      const found = operations.get(name)
      if (!found) return refusal(404, 'notFound', `The resource '${name}' was not found`)
      found.polls += 1
      return { status: 200, body: operationOf(name, found) }
    }
    if (asked.method === 'POST')
      // Validated with the description.
      return insert(zone, asked.body as Inserted, asked.query.get('requestId') ?? '')
    if (name === '') return { status: 200, body: { items: [] } }
    return asked.method === 'DELETE' ? remove(zone, name) : get(`${zone}/${name}`)
  }

  return {
    sortOf: ({ method }) => (method === 'POST' ? 'create' : method === 'DELETE' ? 'destroy' : 'read'),
    answer(asked) {
      if (asked.headers.authorization !== `Bearer ${TOKEN}`)
        return refusal(401, 'authError', 'Request had invalid authentication credentials.')
      return done(asked)
    },
    failure: failureOf,
    violations: openApiRules(GCP_DESCRIPTION),
    there: () =>
      [...kept.values()].filter(({ status }) => status !== 'STOPPING').map(({ inserted }) => inserted.name),
    createRequest(name) {
      const items = insertedNamed(kept, name)?.metadata?.items ?? []
      return { userData: items.find(({ key }) => key === 'user-data')?.value ?? '' }
    },
    insertedOf: (name) => insertedNamed(kept, name),
    plant(count, farm) {
      for (let n = 0; n < count; n++) {
        const zone = n % 2 === 0 ? 'us-central1-a' : 'europe-west1-b'
        const inserted = { name: `planted-${farm}-${n}`, machineType: '', labels: { 'scanfarm-farm': farm } }
        kept.set(`${zone}/${inserted.name}`, { zone, inserted, status: 'RUNNING', address: ++addresses })
      }
    },
    failNext: (code, message, status) => void failures.push({ code, message, status }),
  }
}

const insertedNamed = (kept: ReadonlyMap<string, Kept>, name: string): Inserted | undefined =>
  [...kept.values()].find(({ inserted }) => inserted.name === name)?.inserted

/** Rules of the documentation. */
function brokenRule(zone: string, { name, labels = {}, machineType, scheduling = {}, metadata }: Inserted) {
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    return `Invalid value for field 'resource.name': '${name}'.`
  for (const [key, value] of Object.entries(labels))
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(key) || !/^[a-z0-9_-]{0,63}$/.test(value))
      return `Invalid value for field 'resource.labels': ''. Label value '${value}' violates format constraints.`
  if (!new RegExp(`^zones/${zone}/machineTypes/[a-z0-9-]+$`).test(machineType))
    return `Invalid value for field 'resource.machineType': '${machineType}'.`
  if (machineType.endsWith('/no-such-type'))
    return `Machine type with name 'no-such-type' does not exist in zone '${zone}'.`
  if (scheduling.provisioningModel === 'SPOT' && scheduling.automaticRestart !== false)
    return 'Scheduling cannot have automaticRestart for a preemptible instance.'
  if (scheduling.maxRunDuration !== undefined && scheduling.instanceTerminationAction === undefined)
    return 'You must specify an instance termination action with a max run duration.'
  const keys = (metadata?.items ?? []).map(({ key }) => key)
  return new Set(keys).size === keys.length
    ? undefined
    : "Invalid value for field 'resource.metadata': duplicate keys."
}

function failureOf(fault: AnsweredFault): Answer {
  switch (fault.kind) {
    case 'throttled':
      return {
        ...refusal(429, 'rateLimitExceeded', 'Quota exceeded for quota metric'),
        headers: { 'retry-after': String(fault.afterS) },
      }
    case 'broken':
      return refusal(500, 'backendError', 'Internal error encountered.')
    case 'quota':
      return refusal(403, 'quotaExceeded', WORDS.quota)
    case 'capacity':
      return refusal(503, 'resourcePoolExhausted', WORDS.capacity)
    case 'denied':
      return refusal(
        403,
        'forbidden',
        "Required 'compute.instances.list' permission for 'projects/the-project'",
      )
  }
}

const refusal = (status: number, reason: string, message: string): Answer => ({
  status,
  body: { error: { code: status, message, errors: [{ message, domain: 'global', reason }] } },
})
