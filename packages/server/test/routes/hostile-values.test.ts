// long
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openApi } from '../../src/http/openapi.ts'
import { apiRoutes } from '../../src/routes/index.ts'
import { testServer } from '../_server.ts'

const server = forAllTests(() => testServer({ master: true }))

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly minLength?: number
  readonly minItems?: number
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[]
  readonly body: Schema | undefined
}

const document = openApi(apiRoutes()) as unknown as {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters: Operation['parameters']
        requestBody?: { content: Record<string, { schema: Schema }> }
      }
    >
  >
  components: { schemas: Record<string, Schema> }
}

/** Endless streams are tested elsewhere, and logins with their lockout. */
const LEFT_OUT = new Set(['/events/stream', '/login'])

const operations: Operation[] = Object.entries(document.paths)
  .filter(([path]) => !LEFT_OUT.has(path))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      parameters: operation.parameters,
      body: operation.requestBody?.content['application/json']?.schema,
    })),
  )

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : resolved(document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {})

/** Valid values that a schema does not describe, by field name, for the test server. */
const KNOWN: Readonly<Record<string, unknown>> = {
  flow: 'survey',
  module: 'probe',
  workflow_name: 'probe',
  workflow_kind: 'module',
  target: 'a.test',
  targets: ['a.test'],
  schedule: '0 3 * * *',
  timezone: 'UTC',
  watch_path: '/srv/new/*',
  url: 'https://example.com/hook',
  topics: ['run.*'],
  filters: ['true'],
  severity: 'high',
  provider: 'local',
  asset_value: 'a.test',
  topic: 'custom.a',
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-02T00:00:00Z',
  missed_window: '1h',
  jitter: '1h',
  dedupe_window: '1h',
  debounce: '5s',
  password: 'a long password',
  secret: 'a secret that is long enough',
}

/** A valid value. */
const sample = (given: Schema, name = ''): unknown => {
  const schema = resolved(given)
  if (name in KNOWN) return KNOWN[name]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return sample(schema.anyOf[0] ?? {}, name)
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return false
  if (schema.type === 'array')
    return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}))
  if (schema.type === 'object')
    return Object.fromEntries(
      (schema.required ?? []).map((field) => [field, sample(schema.properties?.[field] ?? {}, field)]),
    )
  return 'a'.repeat(Math.max(1, schema.minLength ?? 1))
}

const TEXTS = ['\0', '\ud800', '', ' ', '\u0001', '%00', 'x'.repeat(70_000), '../..', "'--", '🙂']
const NUMBERS = [2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 1e300, -1, 0, 0.5]

/** Values of another type or outside the range for one position in a body. */
const hostile = (given: Schema, name: string): unknown[] => {
  const schema = resolved(given)
  const fits = sample(schema, name)
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((branch) => hostile(branch, name))
  if (schema.type === 'integer' || schema.type === 'number') return NUMBERS
  if (schema.type === 'array')
    return [...hostile(schema.items ?? {}, '').map((value) => [value]), ...TEXTS.map((text) => [text])]
  if (schema.type === 'object') {
    const values = schema.properties ?? {}
    return [
      ...Object.entries(values).flatMap(([field, inner]) =>
        fullOrFew(field, inner, hostile(inner, field)).map((value) => ({
          ...(fits as object),
          [field]: value,
        })),
      ),
      ...(schema.additionalProperties === false
        ? []
        : TEXTS.flatMap((text) => [{ [text]: 'a' }, { a: text }])),
    ]
  }
  if (schema.type === 'boolean') return ['yes']
  // Long enough for the schema, so that only the text itself is invalid.
  const padding = 'a'.repeat(schema.minLength ?? 0)
  return [...TEXTS, ...TEXTS.map((text) => `${text}${padding}`)]
}

const addressOf = ({ path }: Operation, values: Readonly<Record<string, string>>): string =>
  `/api${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '1')}`

const send = async (operation: Operation, address: string, body?: unknown): Promise<string | undefined> => {
  const response = await fetch(`${server.url}${address}`, {
    method: operation.method.toUpperCase(),
    headers: {
      Authorization: `Bearer ${server.tokens.admin}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isFine = response.status < 500 || [501, 503].includes(response.status)
  return isFine
    ? undefined
    : `${response.status} ${operation.method} ${address.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 200)}: ${text.slice(0, 200)}`
}

/** What is said for a parameter or field of many routes is tried in full at the first, and at the others by these. */
const FEW = new Set<unknown>(['\0', '\ud800', 2 ** 63, String(2 ** 63)])
const tried = new Set<string>()
const fullOrFew = <T>(name: string, schema: Schema, values: readonly T[]): readonly T[] => {
  // Their descriptions and defaults differ, not what is checked.
  const { description: _, default: __, examples: ___, ...checked } = schema as Record<string, unknown>
  const known = `${name} ${JSON.stringify(checked)}`
  if (!tried.has(known)) {
    tried.add(known)
    return values
  }
  const few = values.filter((value) => FEW.has(value))
  return few.length > 0 ? few : values
}

/** Values that a URL can contain. */
const inUrl = (text: string): string => encodeURIComponent(text.toWellFormed())

const NUMBER_TEXTS = [...NUMBERS.map(String), '9'.repeat(400)]
/** A text may be read as a time or a number. */
const URL_TEXTS = [...TEXTS, '-1', String(2 ** 63), '9'.repeat(400)]

describe('no value that the OpenAPI document allows causes an internal error', () => {
  interface Request {
    readonly address: string
    readonly body: unknown
  }
  /** Several places of a schema lead to the same request: each is sent once. */
  const failuresOf = async (operation: Operation, requests: readonly Request[]): Promise<string[]> => {
    const distinct = new Map(requests.map((request) => [JSON.stringify(request), request]))
    const failures: string[] = []
    for (const { address, body } of distinct.values())
      failures.push(...[(await send(operation, address, body)) ?? []].flat())
    return failures
  }

  test.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s',
    async (_, operation) => {
      const base = operation.body === undefined ? undefined : sample(operation.body)
      const required = operation.parameters
        .filter((parameter) => parameter.in === 'query' && parameter.required)
        .map(({ name, schema }) => `${name}=${inUrl(String(sample(schema, name)))}`)
      const requests: Request[] = operation.parameters.flatMap((parameter) => {
        if (parameter.in === 'header') return []
        const texts = parameter.schema.type === 'integer' ? NUMBER_TEXTS : URL_TEXTS
        // Longer paths are refused before any route.
        return fullOrFew(parameter.name, parameter.schema, texts)
          .filter((text) => text.length < 1_000)
          .map((text) => {
            const address =
              parameter.in === 'path'
                ? `${addressOf(operation, { [parameter.name]: inUrl(text) })}?${required.join('&')}`
                : `${addressOf(operation, {})}?${[...required, `${parameter.name}=${inUrl(text)}`].join('&')}`
            return { address, body: base }
          })
      })
      if (operation.body !== undefined)
        for (const body of hostile(operation.body, ''))
          requests.push({ address: `${addressOf(operation, {})}?${required.join('&')}`, body })
      expect(await failuresOf(operation, requests)).toEqual([])
    },
    120_000,
  )
})

describe('paths with empty or odd segments', () => {
  /** One operation of each path: the methods of a path read its segments alike. */
  const withId = [
    ...new Map(operations.map((operation) => [operation.path, operation] as const)).values(),
  ].filter(({ path }) => path.includes('{'))
  const ODD = ['', '%20', '%2e%2e', '%2f..%2f', '-1', '%C3%A9', '%00', '%ff', 'x'.repeat(3_000)]

  test.each(withId.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    'an odd path is refused or not found: %s',
    async (_, operation) => {
      const base = operation.body === undefined ? undefined : sample(operation.body)
      for (const odd of ODD) {
        const address = operation.path.replaceAll(/\{\w+\}/g, odd)
        const response = await server.admin[operation.method as 'get'](`/api${address}`).send(base as object)
        // 501: the route is not supported, whatever the segment. Earlier tests have stored odd hosts and names.
        const known = ['/hosts/{host}', '/tokens/{id}'].includes(operation.path) ? [200] : []
        expect([400, 401, 404, 413, 501, ...known]).toContain(response.status)
        if (odd === '') expect(response.status).toBe(404)
      }
    },
  )
})

describe('text that Postgres cannot store', () => {
  test.each([
    [
      '/schedules',
      '/event_topic',
      { name: 'n', workflow_name: 'probe', trigger_type: 'event', event_topic: '\0' },
    ],
    ['/schedules', '/name', { name: 'n\0', workflow_name: 'probe', schedule: '0 3 * * *' }],
    ['/incoming-webhooks', '/secret', { name: 'odd', secret: `\0${'s'.repeat(20)}` }],
    ['/webhook-subscriptions', '/topics/0', { name: 'n', url: 'https://example.com', topics: ['\ud800'] }],
    ['/runs', '/docker_image', { module: 'probe', target: 'a.test', docker_image: 'a\0b' }],
    ['/vulnerabilities', '/workspace', { workspace: '\0', severity: 'high' }],
  ])('POST %s refuses it in the field %s', async (path, field, body) => {
    const answer = await server.admin.post(`/api${path}`).send(body)
    expect(answer.status).toBe(400)
    expect(answer.body.details).toContainEqual({
      path: field,
      message: expect.stringContaining('must not contain NUL'),
    })
  })

  test('a topic with control characters does not become a trigger for all topics', async () => {
    const body = { name: 'n', workflow_name: 'probe', trigger_type: 'event', event_topic: '\u0001' }
    const answer = await server.admin.post('/api/schedules').send(body)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('control characters')
  })
})
