import type { Request } from 'express'
import type { Caller } from '../access/authenticator.ts'
import type { ServerContext } from '../context.ts'
import { requestIdOf } from './observe-requests.ts'
import type { RouteSpec } from './route.ts'

/** Whether the audit log has the requests of a route: viewers change nothing but their own logins and filters. */
export const isRecorded = ({ method, role }: Pick<RouteSpec, 'method' | 'role'>): boolean =>
  method !== 'get' && (role === 'operator' || role === 'admin')

/** Adds a request to the audit log. The request succeeds even if that fails: it has made its change. */
export const recordChange = async (
  { store, log }: Pick<ServerContext, 'store' | 'log'>,
  { method, path: route }: Pick<RouteSpec, 'method' | 'path'>,
  request: Request,
  { kind, id, name, role }: Caller,
  status: number,
): Promise<void> => {
  if (kind === 'guest' || role === undefined) return
  const change = { kind, caller_id: id, caller: name, role, method: method.toUpperCase(), route, status }
  try {
    await store.audit.add({ ...change, path: request.path })
  } catch (error) {
    log.error('a change is missing in the audit log', {
      ...change,
      path: request.path,
      request_id: requestIdOf(request),
      error,
    })
  }
}
