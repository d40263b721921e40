import type { InstancesClient } from '@google-cloud/compute/build/src/v1/instances_client.js'
import type { ZoneOperationsClient } from '@google-cloud/compute/build/src/v1/zone_operations_client.js'
import type { protos } from '@google-cloud/compute'
import { pause } from '@scanfarm/platform'
import { CALL_TIMEOUT_MS, callOnce, callWithRetry, type CallLimits } from '../calls.ts'
import { ApiError } from '../errors.ts'
import type { GcpSettings } from '../settings.ts'
import { identityOf } from './credentials.ts'
import { problemOf, problemOfCode } from './errors.ts'
import { loadSdk } from '../sdk.ts'

export interface Compute {
  readonly instances: InstancesClient
  readonly operations: ZoneOperationsClient
  readonly project: string
  /** For each call. Callers retry: they know which calls are safe to repeat, and for how long. */
  readonly options: { readonly timeout: number; readonly retry: null }
}

/** Loads the two clients on first use. They take 150 MB of memory, the whole library twice as much. */
export function openCompute(settings: GcpSettings, { timeoutMs = CALL_TIMEOUT_MS }: CallLimits) {
  let opened: Promise<Compute> | undefined

  const open = async (): Promise<Compute> => {
    const { auth, project } = await identityOf(settings)
    const [{ InstancesClient }, { ZoneOperationsClient }] = await loadSdk(
      'gcp',
      async () =>
        await Promise.all([
          import('@google-cloud/compute/build/src/v1/instances_client.js'),
          import('@google-cloud/compute/build/src/v1/zone_operations_client.js'),
        ]),
    )
    const options = { auth, ...endpointOptions(settings.endpoint) }
    const instances = new InstancesClient(options)
    const operations = new ZoneOperationsClient(options)
    // If initialisation fails within a call, the library leaves a rejected promise unhandled.
    await Promise.all([instances.initialize(), operations.initialize()])
    return { instances, operations, project, options: { timeout: timeoutMs, retry: null } }
  }

  return {
    async get(signal: AbortSignal): Promise<Compute> {
      opened ??= open()
      const opening = opened
      try {
        return await callOnce(() => opening, { signal, problemOf })
      } catch (error) {
        // The credentials may be corrected: the next call tries again.
        opening.catch(() => {
          if (opened === opening) opened = undefined
        })
        throw error
      }
    },
    async close(): Promise<void> {
      const clients = await opened?.catch(() => undefined)
      await Promise.all([clients?.instances.close(), clients?.operations.close()])
    },
  }
}

function endpointOptions(endpoint: string | undefined) {
  if (endpoint === undefined) return {}
  const { protocol, hostname, port } = new URL(endpoint)
  const scheme = protocol.slice(0, -1)
  return { apiEndpoint: hostname, protocol: scheme, port: Number(port || (scheme === 'http' ? 80 : 443)) }
}

type Operation = protos.google.cloud.compute.v1.IOperation

/** Exceeded quotas and a lack of capacity are reported within seconds. `describe` shows a machine that takes longer. */
const WATCHED_MS = 20_000
const FIRST_POLL_MS = 500
const LONGEST_PAUSE_MS = 2_000

/** Rejects with the errors of the operation. Returns when it is done, and after 20 s in any case. */
export async function watchOperation(
  { operations, project, options }: Compute,
  zone: string,
  operation: string,
  limits: CallLimits & { readonly signal: AbortSignal },
): Promise<void> {
  const deadline = Date.now() + WATCHED_MS
  let pauseMs = limits.firstWaitMs ?? FIRST_POLL_MS
  while (Date.now() < deadline) {
    const [seen] = await callWithRetry(() => operations.get({ project, zone, operation }, options), {
      ...limits,
      problemOf,
    })
    throwIfFailed(seen)
    if (seen.status === 'DONE' || seen.status === DONE) return
    await pause(pauseMs, limits.signal)
    limits.signal.throwIfAborted()
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}

/** The value of DONE when the library decodes enums as numbers. */
const DONE = 2104194

function throwIfFailed({ error, httpErrorStatusCode }: Operation): void {
  const errors = error?.errors ?? []
  const [first] = errors
  if (!first) return
  const status = httpErrorStatusCode ?? 400
  const message = errors.map(({ code, message }) => `${code}: ${message}`).join('; ')
  throw new ApiError(problemOfCode(first.code ?? '', status), message, status)
}
