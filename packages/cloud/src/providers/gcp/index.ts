import { CloudError, type CloudProvider, type Machine, type MachineRequest } from '../../provider.ts'
import { callOnce, callWithRetry, type CallLimits } from '../calls.ts'
import { isNotFound } from '../errors.ts'
import { LABEL_KEYS } from '../labels.ts'
import { gcpPrice } from '../prices.ts'
import type { GcpSettings } from '../settings.ts'
import { openCompute, watchOperation, type Compute } from './compute.ts'
import { isTaken, problemOf } from './errors.ts'
import { instanceOf, machineOf, parseId, requestIdOf, zoneOf, type InstanceRef } from './machines.ts'

const DEFAULT_ZONE = 'us-central1-a'
const DEFAULT_TYPE = 'e2-medium'
/** Created by the machine's agent from the key in its metadata. */
const SSH_USER = 'scanfarm'
const PAGE_SIZE = 500
/** Of one farm. */
const MOST_MACHINES = 10_000

/** Machines are instances of Compute Engine; regions are zones. */
export function createGcpProvider(settings: GcpSettings, limits: CallLimits = {}): CloudProvider {
  const compute = openCompute(settings, limits)
  const zone = settings.zone ?? DEFAULT_ZONE

  const read = async <T>(signal: AbortSignal, call: (at: Compute) => Promise<T>): Promise<T> => {
    const at = await compute.get(signal)
    return callWithRetry(() => call(at), { ...limits, signal, problemOf })
  }

  const find = async (ref: InstanceRef, signal: AbortSignal): Promise<Machine | undefined> => {
    try {
      const [instance] = await read(signal, ({ instances, project, options }) =>
        instances.get({ project, ...ref }, options),
      )
      return machineOf(instance, settings.privateAddress)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  const make = async (request: MachineRequest, at: string, signal: AbortSignal): Promise<void> => {
    const clients = await compute.get(signal)
    const [{ latestResponse }] = await callOnce(
      () =>
        clients.instances.insert(
          {
            project: clients.project,
            zone: at,
            requestId: requestIdOf(request),
            instanceResource: instanceOf(request, at, settings),
          },
          clients.options,
        ),
      { ...limits, signal, problemOf },
    )
    if (latestResponse.name) await watchOperation(clients, at, latestResponse.name, { ...limits, signal })
  }

  return {
    name: 'gcp',
    defaults: { region: zone, type: settings.type ?? DEFAULT_TYPE, sshUser: SSH_USER },

    async check(signal) {
      await read(signal, async ({ instances, project, options }) => {
        for await (const _ of instances.listAsync(
          { project, zone, maxResults: 1 },
          { ...options, autoPaginate: false },
        ))
          return
      })
    },

    async create(request, signal) {
      const at = zoneOf(request.region, settings)
      const ref = { zone: at, instance: request.name }
      try {
        await make(request, at, signal)
      } catch (error) {
        // An earlier call has created the machine, so long ago that the cloud has forgotten the request id.
        const there = isTaken(error) ? await find(ref, signal) : undefined
        if (there?.labels.farm === request.labels.farm && there.labels.infra === request.labels.infra)
          return there
        throw error
      }
      return (
        (await find(ref, signal)) ?? {
          id: `${at}/${request.name}`,
          name: request.name,
          state: 'starting',
          address: undefined,
          port: 22,
          labels: request.labels,
          message: '',
        }
      )
    },

    async describe(id, signal) {
      return find(parseId(id), signal)
    },

    async destroy(id, signal) {
      const ref = parseId(id)
      try {
        await read(signal, ({ instances, project, options }) =>
          instances.delete({ project, ...ref }, options),
        )
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    },

    async list(farm, signal) {
      return read(signal, async ({ instances, project, options }) => {
        const found: Machine[] = []
        const pages = instances.aggregatedListAsync(
          { project, filter: `labels.${LABEL_KEYS.farm} = "${farm}"`, maxResults: PAGE_SIZE },
          { ...options, autoPaginate: false },
        )
        for await (const [, { instances: some }] of pages) {
          found.push(...(some ?? []).map((instance) => machineOf(instance, settings.privateAddress)))
          if (found.length > MOST_MACHINES)
            throw new CloudError('refused', `gcp lists more than ${MOST_MACHINES} machines of this farm`)
        }
        return found.filter(({ labels }) => labels.farm === farm)
      })
    },

    async price({ region, type }) {
      return settings.prices[type] ?? gcpPrice(region, type)
    },

    async [Symbol.asyncDispose]() {
      await compute.close()
    },
  }
}
