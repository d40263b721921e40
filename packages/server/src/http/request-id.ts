import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const ACCEPTED = /^[A-Za-z0-9._:-]{1,128}$/

const ids = new WeakMap<IncomingMessage, string>()

/** The caller's `X-Request-Id` when it can stand in a log line, else a new one; the same for the whole request. */
export const requestIdOf = (request: IncomingMessage): string => {
  const known = ids.get(request)
  if (known !== undefined) return known
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID()
  ids.set(request, id)
  return id
}
