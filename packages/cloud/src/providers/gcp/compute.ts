import { backoffMs } from '@scanfarm/contracts'
import { pause } from '@scanfarm/platform'
import { Type, type Static } from 'typebox'
import type { CloudProblem } from '../../provider.ts'
import type { CallLimits } from '../calls.ts'
import { ApiError, problemOfStatus, property, textOf } from '../errors.ts'
import { restClient, type Arguments, type RestClient } from '../rest-api.ts'
import type { GcpSettings } from '../settings.ts'
import { openIdentity, type Identity } from './credentials.ts'

const ENDPOINT = 'https://compute.googleapis.com'

/** The used fields. Google leaves out fields that are empty. */
const Instance = Type.Object({
  name: Type.String(),
  zone: Type.String(),
  status: Type.String(),
  statusMessage: Type.Optional(Type.String()),
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
  networkInterfaces: Type.Optional(
    Type.Array(
      Type.Object({
        networkIP: Type.Optional(Type.String()),
        accessConfigs: Type.Optional(Type.Array(Type.Object({ natIP: Type.Optional(Type.String()) }))),
      }),
    ),
  ),
})
export type Instance = Static<typeof Instance>

const Operation = Type.Object({
  name: Type.String(),
  status: Type.String(),
  httpErrorStatusCode: Type.Optional(Type.Integer()),
  error: Type.Optional(
    Type.Object({
      errors: Type.Optional(
        Type.Array(
          Type.Object({ code: Type.Optional(Type.String()), message: Type.Optional(Type.String()) }),
        ),
      ),
    }),
  ),
})
const Zones = Type.Object({
  items: Type.Optional(
    Type.Record(Type.String(), Type.Object({ instances: Type.Optional(Type.Array(Instance)) })),
  ),
  nextPageToken: Type.Optional(Type.String()),
})

const ZONE = '/compute/v1/projects/{project}/zones/{zone}'
export const CALLS = {
  check: { action: 'list instances', method: 'GET', path: `${ZONE}/instances`, answer: Type.Unknown() },
  list: {
    action: 'list instances',
    method: 'GET',
    path: '/compute/v1/projects/{project}/aggregated/instances',
    answer: Zones,
  },
  create: { action: 'create an instance', method: 'POST', path: `${ZONE}/instances`, answer: Operation },
  describe: {
    action: 'read an instance',
    method: 'GET',
    path: `${ZONE}/instances/{instance}`,
    answer: Instance,
  },
  destroy: {
    action: 'destroy an instance',
    method: 'DELETE',
    path: `${ZONE}/instances/{instance}`,
    answer: Type.Unknown(),
  },
  operation: {
    action: 'read an operation',
    method: 'GET',
    path: `${ZONE}/operations/{operation}`,
    answer: Operation,
  },
} as const

/** Error reasons and operation codes that are more precise than the status: an exceeded quota is a 403, a lack of capacity a 503. */
const PROBLEMS: Readonly<Record<string, CloudProblem>> = {
  quotaExceeded: 'refused',
  QUOTA_EXCEEDED: 'refused',
  limitExceeded: 'refused',
  LIMIT_EXCEEDED: 'refused',
  rateLimitExceeded: 'unavailable',
  userRateLimitExceeded: 'unavailable',
  RATE_LIMIT_EXCEEDED: 'unavailable',
  stockout: 'capacity',
  resourcePoolExhausted: 'capacity',
  RESOURCE_POOL_EXHAUSTED: 'capacity',
  ZONE_RESOURCE_POOL_EXHAUSTED: 'capacity',
  ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: 'capacity',
  PERMISSIONS_ERROR: 'credentials',
  INTERNAL_ERROR: 'unavailable',
}

const problemOf = ({ code, status }: { readonly code: string; readonly status: number }): CloudProblem =>
  PROBLEMS[code] ?? problemOfStatus(status)

/** The client of one project, whose credentials are read with the first call. */
export function openCompute(settings: GcpSettings, limits: CallLimits): RestClient {
  let opening: Promise<Identity> | undefined
  const identity = async (): Promise<Identity> => {
    try {
      return await (opening ??= openIdentity(settings))
    } catch (error) {
      // The credentials may be corrected: the next call tries again.
      opening = undefined
      throw error
    }
  }
  const client = restClient({
    provider: 'gcp',
    base: new URL(settings.endpoint ?? ENDPOINT).origin,
    remedy: 'check gcp in cloud.credentials and the permissions of its account',
    limits,
    token: async () => (await identity()).token(),
    explain(body) {
      const error = property(body, 'error')
      const errors = property(error, 'errors')
      const first: unknown = Array.isArray(errors) ? errors[0] : undefined
      return {
        code: textOf(property(first, 'reason')) ?? '',
        message: textOf(property(error, 'message')) ?? '',
      }
    },
    problemOf,
  })
  const withProject = async (given: Arguments): Promise<Arguments> => {
    const { project } = await identity()
    return { ...given, path: { project, ...given.path } }
  }
  return {
    call: async (call, given, signal) => {
      signal.throwIfAborted()
      return client.call(call, await withProject(given), signal)
    },
    find: async (call, given, signal) => {
      signal.throwIfAborted()
      return client.find(call, await withProject(given), signal)
    },
  }
}

/** Exceeded quotas and a lack of capacity are reported within seconds. `describe` shows a machine that takes longer. */
const WATCHED_MS = 20_000
const FIRST_POLL_MS = 500
const LONGEST_PAUSE_MS = 2_000

/** Rejects with the errors of the operation. Returns when it is done, and after 20 s in any case. */
export async function watchOperation(
  client: RestClient,
  path: { readonly zone: string; readonly operation: string },
  { firstWaitMs = FIRST_POLL_MS }: CallLimits,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + WATCHED_MS
  for (let polls = 1; Date.now() < deadline; polls++) {
    const seen = await client.call(CALLS.operation, { path }, signal)
    throwIfFailed(seen)
    if (seen.status === 'DONE') return
    await pause(backoffMs(polls, { firstMs: firstWaitMs, mostMs: LONGEST_PAUSE_MS }), signal)
    signal.throwIfAborted()
  }
}

function throwIfFailed({ error, httpErrorStatusCode: status = 400 }: Static<typeof Operation>): void {
  const errors = error?.errors ?? []
  const [first] = errors
  if (!first) return
  const message = errors.map(({ code, message: said }) => `${code}: ${said}`).join('; ')
  throw new ApiError(problemOf({ code: first.code ?? '', status }), message, status)
}
