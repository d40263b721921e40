import { compile, type Parser } from '@scanfarm/contracts'
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
