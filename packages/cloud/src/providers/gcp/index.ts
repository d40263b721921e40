import { CloudError, type CloudProvider, type Machine, type MachineRequest } from '../../provider.ts'
import type { CallLimits } from '../calls.ts'
import { hasStatus } from '../errors.ts'
import { LABEL_KEYS, madeFor, parseId, startingMachine } from '../labels.ts'
import { gcpPrice } from '../prices.ts'
import type { GcpSettings } from '../settings.ts'
import { CALLS, openCompute, watchOperation } from './compute.ts'
import { instanceOf, machineOf, requestIdOf, zoneOf } from './machines.ts'

const DEFAULT_ZONE = 'us-central1-a'
const DEFAULT_TYPE = 'e2-medium'
/** Created by the machine's agent from the key in its metadata. */
const SSH_USER = 'scanfarm'
const PAGE_SIZE = '500'
/** Of one farm. */
const MOST_MACHINES = 10_000

/** Machines are instances of Compute Engine, with ids of the form `zone/name`; regions are zones. */
export function createGcpProvider(settings: GcpSettings, limits: CallLimits = {}): CloudProvider {
  const client = openCompute(settings, limits)
  const zone = settings.zone ?? DEFAULT_ZONE
  const read = (instance: Parameters<typeof machineOf>[0]) => machineOf(instance, settings.privateAddress)

  const argumentsOf = (id: string) => {
    const [place, instance] = parseId('gcp', id, 'zone/name')
    return { path: { zone: place, instance } }
  }

  const find = async (id: string, signal: AbortSignal): Promise<Machine | undefined> => {
    const instance = await client.find(CALLS.describe, argumentsOf(id), signal)
    return instance && read(instance)
  }

  const make = async (request: MachineRequest, at: string, signal: AbortSignal): Promise<void> => {
    const query = { requestId: requestIdOf(request) }
    const body = instanceOf(request, at, settings)
    const { name } = await client.call(CALLS.create, { path: { zone: at }, query, body }, signal)
    await watchOperation(client, { zone: at, operation: name }, limits, signal)
  }

  return {
    name: 'gcp',
    defaults: { region: zone, type: settings.type ?? DEFAULT_TYPE, sshUser: SSH_USER },

    async check(signal) {
      await client.call(CALLS.check, { path: { zone }, query: { maxResults: '1' } }, signal)
    },

    async create(request, signal) {
      const at = zoneOf(request.region, settings)
      const id = `${at}/${request.name}`
      try {
        await make(request, at, signal)
      } catch (error) {
        // An earlier call has created the machine, so long ago that the cloud has forgotten the request id.
        const there = hasStatus(error, 409) ? madeFor(request, await find(id, signal)) : undefined
        if (there) return there
        throw error
      }
      return (await find(id, signal)) ?? startingMachine(id, request)
    },

    describe: find,

    async destroy(id, signal) {
      await client.find(CALLS.destroy, argumentsOf(id), signal)
    },

    async list(farm, signal) {
      const found: Machine[] = []
      let pageToken: string | undefined
      do {
        const query = {
          filter: `labels.${LABEL_KEYS.farm} = "${farm}"`,
          maxResults: PAGE_SIZE,
          ...(pageToken !== undefined && { pageToken }),
        }
        const { items = {}, nextPageToken } = await client.call(CALLS.list, { query }, signal)
        for (const { instances = [] } of Object.values(items)) found.push(...instances.map(read))
        if (found.length > MOST_MACHINES)
          throw new CloudError('refused', `gcp lists more than ${MOST_MACHINES} machines of this farm`)
        pageToken = nextPageToken
      } while (pageToken)
      return found.filter(({ labels }) => labels.farm === farm)
    },

    async price({ region, type }) {
      return gcpPrice(region, type)
    },

    async [Symbol.asyncDispose]() {},
  }
}
