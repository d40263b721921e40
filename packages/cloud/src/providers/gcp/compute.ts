import type { InstancesClient } from '@google-cloud/compute/build/src/v1/instances_client.js'
import type { ZoneOperationsClient } from '@google-cloud/compute/build/src/v1/zone_operations_client.js'
import { CALL_TIMEOUT_MS, callOnce, type CallLimits } from '../calls.ts'
import { identityOf } from './credentials.ts'
import { problemOf } from './problems.ts'
import type { GcpSettings } from './settings.ts'

export interface Compute {
  readonly instances: InstancesClient
  readonly operations: ZoneOperationsClient
  readonly project: string
  /** For each call. Repetition is the caller's: it knows what is safe to repeat, and for how long. */
  readonly options: { readonly timeout: number; readonly retry: null }
}

/**
 * The clients, made when first asked for. Of the library only the two that are used are loaded, which takes 150 MB of memory;
 * all of it would take twice as much.
 */
export function openCompute(settings: GcpSettings, { timeoutMs = CALL_TIMEOUT_MS }: CallLimits) {
  let opened: Promise<Compute> | undefined

  const open = async (): Promise<Compute> => {
    const { auth, project } = await identityOf(settings)
    const [{ InstancesClient }, { ZoneOperationsClient }] = await Promise.all([
      import('@google-cloud/compute/build/src/v1/instances_client.js'),
      import('@google-cloud/compute/build/src/v1/zone_operations_client.js'),
    ])
    const options = { auth, ...placeOf(settings.endpoint) }
    const instances = new InstancesClient(options)
    const operations = new ZoneOperationsClient(options)
    // Where this fails inside of a call, the library leaves a rejected promise to nobody.
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
        // Credentials may be put right, and the next call tries again.
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

function placeOf(endpoint: string | undefined) {
  if (endpoint === undefined) return {}
  const { protocol, hostname, port } = new URL(endpoint)
  const scheme = protocol.slice(0, -1)
  return { apiEndpoint: hostname, protocol: scheme, port: Number(port || (scheme === 'http' ? 80 : 443)) }
}
