import { AppError, compile, ERROR_STATUS, type ErrorCode, type Parser } from '@scanfarm/contracts'
import type { TSchema } from 'typebox'
import type { Answer } from './answer.ts'
import type { MediaResponse, RouteSpec } from './route.ts'

export const isMedia = (response: TSchema | MediaResponse): response is MediaResponse => 'media' in response

/**
 * Throws if an answer does not match the responses that its route declares. Unknown object fields are errors too, so
 * that undocumented fields are found. For tests; too slow for production.
 */
export function responseCheck(spec: RouteSpec): (answer: Answer) => void {
  const parsers = new Map<number, Parser<unknown>>()
  const parserFor = (status: number, schema: TSchema): Parser<unknown> => {
    const parser = parsers.get(status) ?? compile(closed(schema), { subject: `response ${status}` })
    parsers.set(status, parser)
    return parser
  }
  return ({ status, form, body, headers }) => {
    const declared = spec.responses[status]
    const name = `${spec.method.toUpperCase()} ${spec.path}`
    if (declared === undefined) throw new Error(`${name} answered with the undeclared status ${status}`)
    const isJson = form === 'json' || String(headers['Content-Type']).startsWith('application/json')
    const schema = isMedia(declared) ? declared.schema : declared
    if (schema === undefined || (isMedia(declared) && !isJson)) return
    // A stream can be read only once; the tests of its source check the content.
    if (form === 'bytes') return
    if (!isJson) throw new Error(`${name} answered ${status} without the JSON that it declares`)
    const sent: unknown = JSON.parse(form === 'json' ? JSON.stringify(body) : String(body))
    try {
      parserFor(status, schema)(sent)
    } catch (error) {
      throw new Error(`${name} answered ${status} with a body that does not match its schema`, {
        cause: error,
      })
    }
  }
}

const closed = (schema: TSchema): TSchema => {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const { $id: _, ...rest } = node as Record<string, unknown>
    const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, walk(value)]))
    return 'properties' in copy && !('additionalProperties' in copy)
      ? { ...copy, additionalProperties: false }
      : copy
  }
  return walk(schema) as TSchema
}

/** The errors that a route documents: its own, and those of its role, query, path and body. */
export const errorsOf = (spec: RouteSpec): ReadonlySet<ErrorCode> => {
  const all = new Set<ErrorCode>(spec.errors)
  // A page of another origin is forbidden to use the login of a browser, also for what viewers may do.
  if (spec.role !== 'public') all.add('unauthorized').add('forbidden')
  if (spec.query !== undefined || spec.body !== undefined) all.add('invalid_input')
  if (spec.params !== undefined && ![...all].some((code) => ERROR_STATUS[code] === 404)) all.add('not_found')
  if (spec.body !== undefined)
    for (const code of ['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const) all.add(code)
  if (spec.body !== undefined && spec.role !== 'public') all.add('too_many_requests')
  return all
}

/** Errors of every path, as the OpenAPI document says. */
const EVERYWHERE: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'method_not_allowed',
  'request_timeout',
  'internal',
  'unavailable',
])

/** Throws if a route refused a request with a code that its documentation does not name. For tests. */
export const checkRefusal = (spec: RouteSpec, refusal: unknown): void => {
  if (!(refusal instanceof AppError) || EVERYWHERE.has(refusal.code) || errorsOf(spec).has(refusal.code))
    return
  const name = `${spec.method.toUpperCase()} ${spec.path}`
  throw new Error(`${name} answered with the undocumented error ${refusal.code}`, { cause: refusal })
}
