import { ERROR_STATUS, ErrorBody, type ErrorCode } from '@scanfarm/contracts'
import type { TSchema } from 'typebox'
import { VERSION } from '../version.ts'
import { errorsOf, isMedia } from './response-check.ts'
import { WORDS } from './word-list.ts'
import type { MediaResponse, Route, RouteSpec } from './route.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined }
type JsonObject = { [key: string]: Json | undefined }

/** The OpenAPI 3.1 document, generated from the schemas that validate requests and responses. */
export function openApi(routes: readonly Route[]): JsonObject {
  const components = new Map<string, Json>()
  const paths = Map.groupBy(
    routes.map(({ spec }) => spec),
    ({ path }) => path,
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Scanfarm',
      version: VERSION,
      summary: 'Run security-scan workflows against targets over a farm of machines.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api' }, { url: '/osm/api', description: 'The same API, for existing clients' }],
    security: [{ bearer: [] }, { key: [] }],
    tags: [...new Set(routes.map(({ spec }) => spec.tag))].map((name) => ({ name })),
    paths: Object.fromEntries(
      [...paths].map(([path, specs]) => [
        path,
        Object.fromEntries(specs.map((spec) => [spec.method, operation(spec, components)])),
      ]),
    ),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API token, or the token of POST /login' },
        key: { type: 'apiKey', in: 'header', name: 'x-osm-api-key', description: 'An API token' },
      },
      responses: Object.fromEntries(routes.flatMap(({ spec }) => refusalsOf(spec).map(component))),
      schemas: { ErrorBody: schemaOf(ErrorBody, components, true), ...Object.fromEntries(components) },
    },
  }
}

const operation = (spec: RouteSpec, components: Map<string, Json>): JsonObject => ({
  operationId: operationId(spec),
  tags: [spec.tag],
  summary: spec.summary,
  description: [spec.description, needs(spec)].filter(Boolean).join('\n\n'),
  'x-required-role': spec.role,
  ...(spec.aliases === undefined ? {} : { 'x-aliases': [...spec.aliases] }),
  ...(spec.role === 'public' ? { security: [] } : {}),
  parameters: [
    ...parameters(spec.params, 'path', components),
    ...parameters(spec.query, 'query', components),
    ...Object.entries(spec.headers ?? {}).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ],
  ...requestBody(spec, components),
  responses: { ...successes(spec, components), ...refusals(spec) },
})

const needs = ({ role }: RouteSpec): string =>
  role === 'public' ? 'Needs no token.' : `Requires the role ${role}.`

const operationId = ({ method, path }: RouteSpec): string =>
  method +
  path
    .split(/[/{}._-]+/)
    .filter((part) => part !== '')
    .map(capitalised)
    .join('')

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const parameters = (
  schema: TSchema | undefined,
  place: 'path' | 'query',
  components: Map<string, Json>,
): Json[] => {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = schemaOf(property, components) as JsonObject
    const words = rest[WORDS] as Json[] | undefined
    const list = words && { type: 'array', items: { type: 'string', enum: words } }
    return {
      name,
      in: place,
      required: required.includes(name),
      description,
      ...(list === undefined ? {} : { style: 'form', explode: false }),
      schema: list ?? rest,
    }
  })
}

const requestBody = (spec: RouteSpec, components: Map<string, Json>): JsonObject => {
  if (spec.body !== undefined)
    return {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(spec.body, components) } },
      },
    }
  const upload = spec.upload ?? spec.file
  if (upload === undefined) return {}
  const file = { type: 'string', format: 'binary', description: upload.description }
  const schema = { type: 'object', required: ['file'], properties: { file } }
  if (spec.file === undefined)
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } }
  // An empty body is an empty file. Generators of clients cannot compile an operation whose body has two media types, so
  // the form is only described.
  const description = `${upload.description} A form of the type multipart/form-data with the field \`file\` is accepted too.`
  return {
    requestBody: { required: false, description, content: { 'application/octet-stream': { schema: file } } },
  }
}

const successes = ({ responses }: RouteSpec, components: Map<string, Json>): JsonObject =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, success(response, components)]),
  )

/** Clients decode JSON and YAML by their media type, so the schema is not a string. */
const ANYTHING: JsonObject = {}
const BYTES: JsonObject = { type: 'string', format: 'binary' }

const success = (response: TSchema | MediaResponse, components: Map<string, Json>): JsonObject => {
  if (!isMedia(response))
    return {
      description: 'Done',
      content: { 'application/json': { schema: schemaOf(response, components) } },
    }
  const shape = (type: string): Json =>
    response.schema !== undefined && type === 'application/json'
      ? schemaOf(response.schema, components)
      : type.startsWith('text/') && type !== 'text/yaml'
        ? { type: 'string' }
        : BINARY.has(type)
          ? BYTES
          : ANYTHING
  const content = Object.fromEntries(response.media.map((type) => [type, { schema: shape(type) }]))
  return { description: response.description, ...(response.media.length === 0 ? {} : { content }) }
}

const BINARY: ReadonlySet<string> = new Set(['application/octet-stream', 'application/zip'])

/** The refusals with one status. */
interface Refusal {
  readonly status: string
  /** Empty: the errors of every path. */
  readonly codes: readonly ErrorCode[]
}

const refusalsOf = (spec: RouteSpec): Refusal[] => {
  const byStatus = Map.groupBy(errorsOf(spec), (code) => String(ERROR_STATUS[code]))
  return [
    ...[...byStatus].map(([status, codes]) => ({ status, codes: codes.sort() })),
    { status: 'default', codes: [] },
  ]
}

/** Most refusals are those of many routes, so they are components, named after their codes. */
const nameOf = ({ codes }: Refusal): string =>
  codes.length === 0 ? 'AnyError' : codes.map((code) => code.split('_').map(capitalised).join('')).join('Or')

const refusals = (spec: RouteSpec): JsonObject =>
  Object.fromEntries(
    refusalsOf(spec).map((one) => [one.status, { $ref: `#/components/responses/${nameOf(one)}` }]),
  )

const component = (refusal: Refusal): [name: string, response: JsonObject] => [
  nameOf(refusal),
  {
    description:
      refusal.codes.length > 0
        ? `Refused: ${refusal.codes.join(', ')}`
        : 'Errors of every path: 400 the path or query cannot be parsed, 405 another method, 408 and 431 the request is too slow or its headers are too large, 500 an internal error, 503 a service of the farm does not answer',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
  },
]

/** The JSON Schema of a TypeBox schema; schemas with an `$id` become components. */
const schemaOf = (schema: TSchema, components: Map<string, Json>, inline = false): Json => {
  const walk = (node: unknown, top: boolean): Json => {
    if (Array.isArray(node)) return node.map((item) => walk(item, false))
    if (typeof node !== 'object' || node === null) return node as Json
    const { $id, ...rest } = withOptional(node) as { $id?: string; const?: unknown }
    // Generated clients refuse answers with a boolean constant: they compare it with the text.
    if (typeof rest.const === 'boolean') delete rest.const
    // Without a type, generated Go code takes the value for one that is always given.
    if ('enum' in rest && !('type' in rest) && asTexts(rest.enum)) Object.assign(rest, { type: 'string' })
    const plain = (): JsonObject =>
      Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, walk(value, false)]))
    if (typeof $id !== 'string' || (top && inline)) return plain()
    if (!components.has($id)) {
      components.set($id, null)
      components.set($id, plain())
    }
    return { $ref: `#/components/schemas/${$id}` }
  }
  return walk(schema, true)
}

interface Property {
  readonly anyOf?: readonly { readonly type?: string; readonly enum?: readonly unknown[] }[]
}

/** The generator for Python refuses optional properties that are `anyOf` a type and null: they get one type. */
const withOptional = (node: object): object => {
  const { properties, required = [] } = node as {
    properties?: Readonly<Record<string, Property>>
    required?: readonly string[]
  }
  if (properties === undefined) return node
  const entries = Object.entries(properties)
  return {
    ...node,
    properties: Object.fromEntries(
      entries.map(([name, property]) => [name, required.includes(name) ? property : orNull(property)]),
    ),
  }
}

const orNull = (property: Property): object => {
  const { anyOf = [], ...rest } = property
  const [type, none] = anyOf
  const kind = type?.type ?? (asTexts(type?.enum) ? 'string' : undefined)
  if (anyOf.length !== 2 || kind === undefined || none?.type !== 'null') return property
  return {
    ...type,
    ...rest,
    type: [kind, 'null'],
    ...(type?.enum !== undefined && { enum: [...type.enum, null] }),
  }
}

const asTexts = (values: unknown): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === 'string')
