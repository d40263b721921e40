import { compile } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { Static, TSchema } from 'typebox'
import { CloudError, type CloudProblem } from '../../provider.ts'
import { problemOfStatus, unreachable } from '../calls.ts'
import { problemOfAnswer, property, textOf, type FailedAnswer } from '../failed-answer.ts'

export const NAME = 'hetzner'
/** Of an answer. */
const MOST_BYTES = 16 * 1024 * 1024

/** What Hetzner's codes mean; the rest goes by its status. */
const PROBLEMS: Readonly<Record<string, CloudProblem>> = {
  resource_unavailable: 'capacity',
  placement_error: 'capacity',
  resource_limit_exceeded: 'refused',
  // A name that is taken: perhaps by the machine that was asked for before, and that is not in lists yet.
  uniqueness_error: 'unavailable',
  conflict: 'unavailable',
  locked: 'unavailable',
  rate_limit_exceeded: 'unavailable',
}

class AnswerError extends Error {
  override readonly name = 'AnswerError'
  readonly response: FailedAnswer
  readonly code: string

  constructor(response: FailedAnswer, code: string) {
    super(response.words)
    this.response = response
    this.code = code
  }
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Answers are checked and typed by the schema; what is refused or lost rejects with what `problemOf` understands. */
export type HetznerClient = <S extends TSchema>(
  call: Call,
  answer: S,
  signal: AbortSignal,
) => Promise<Static<S>>

/** Hetzner Cloud over fetch: its makers keep no client for JavaScript. */
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
      throw new CloudError('unavailable', `${NAME} does not answer as it documents: ${errorText(error)}`)
    }
  }
}

function failed({ status, headers }: Response, text: string): AnswerError {
  const error = property(parsed(text), 'error')
  const code = textOf(property(error, 'code')) ?? ''
  const message = textOf(property(error, 'message')) ?? ''
  const words = code === '' ? message : `${message} (${code})`
  return new AnswerError({ status, words, header: (name) => headers.get(name) ?? undefined }, code)
}

/** Gateways in between answer with pages. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function problemOf(error: unknown): CloudError {
  if (!(error instanceof AnswerError)) return unreachable(NAME, error)
  const { response, code } = error
  return problemOfAnswer(NAME, response, PROBLEMS[code] ?? problemOfStatus(response.status))
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
