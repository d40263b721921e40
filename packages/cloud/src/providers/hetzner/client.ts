import { compile } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { Type, type Static, type TSchema } from 'typebox'
import { CloudError, type CloudProblem } from '../../provider.ts'
import { problemOfStatus, property, textOf, unreachable } from '../errors.ts'
import { responseError, type FailedResponse } from '../rest-api.ts'

export const NAME = 'hetzner'
/** Of a response. */
const MOST_BYTES = 16 * 1024 * 1024

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

class ResponseError extends Error {
  override readonly name = 'ResponseError'
  readonly response: FailedResponse
  readonly code: string

  constructor(response: FailedResponse, code: string) {
    super(response.message)
    this.response = response
    this.code = code
  }
}

const Address = Type.Union([Type.Object({ ip: Type.String() }), Type.Null()])

/** The fields of a server that are used here. */
export const Server = Type.Object({
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
export type Server = Static<typeof Server>

export const OneServer = Type.Object({ server: Server })

const Paged = Type.Object({
  pagination: Type.Object({ next_page: Type.Union([Type.Integer(), Type.Null()]) }),
})

export const ServerPage = Type.Object({ servers: Type.Array(Server), meta: Paged })

/** Prices are decimal strings in the currency of the account. */
export const TypePage = Type.Object({
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

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Validates responses with the schema. Rejects with errors for `problemOf`. */
export type HetznerClient = <S extends TSchema>(
  call: Call,
  schema: S,
  signal: AbortSignal,
) => Promise<Static<S>>

/** Hetzner publishes no client for JavaScript. */
export function hetznerClient(token: string, base: string): HetznerClient {
  return async ({ method, path, query = {}, body }, schema, signal) => {
    const response = await fetch(`${base}${path}?${new URLSearchParams(query).toString()}`, {
      method,
      signal,
      redirect: 'error',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await readBounded(response)
    if (!response.ok) throw failed(response, text)
    try {
      return compile(schema)(JSON.parse(text))
    } catch (error) {
      throw new CloudError(
        'unavailable',
        `${NAME} sent a response that does not match its documentation: ${errorText(error)}`,
      )
    }
  }
}

function failed({ status, headers }: Response, text: string): ResponseError {
  const error = property(parsed(text), 'error')
  const code = textOf(property(error, 'code')) ?? ''
  const message = textOf(property(error, 'message')) ?? ''
  const described = code === '' ? message : `${message} (${code})`
  const response = { status, message: described, header: (name: string) => headers.get(name) ?? undefined }
  return new ResponseError(response, code)
}

/** Gateways may respond with HTML. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function problemOf(error: unknown): CloudError {
  if (!(error instanceof ResponseError)) return unreachable(NAME, error)
  const { response, code } = error
  return responseError(NAME, response, PROBLEMS[code] ?? problemOfStatus(response.status))
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > MOST_BYTES) throw new Error(`an answer of more than ${MOST_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
