import type { DescribeInstancesCommandInput, Instance } from '@aws-sdk/client-ec2'
import { CloudError, type CloudProvider, type Machine, type MachineRequest } from '../../provider.ts'
import { callOnce, repeatSafe, type CallLimits } from '../calls.ts'
import { keptFor } from '../kept.ts'
import { LABEL_KEYS } from '../label-keys.ts'
import { openEc2, type Ec2 } from './ec2.ts'
import { architectureOf, IMAGE_KEPT_MS, newestImage } from './images.ts'
import { machineOf, OPEN_STATES, parseId, runInput } from './machines.ts'
import { onDemandPrice } from './prices.ts'
import { codeOf, problemOf } from './problems.ts'
import { DEFAULT_REGION, DEFAULT_TYPE, regionsOf, SSH_USER, type AwsSettings } from './settings.ts'

export type { AwsSettings }

const PAGE_SIZE = 1_000
/** Of one region. A farm with more machines than that is not one of ours. */
const MOST_MACHINES = 10_000
const MOST_PRICES = 100

/** Machines are EC2 instances. */
export function createAwsProvider(settings: AwsSettings, limits: CallLimits = {}): CloudProvider {
  const ec2 = openEc2(settings)
  const region = settings.region ?? DEFAULT_REGION
  const regions = regionsOf(settings)
  const images = new Map<string, (signal: AbortSignal) => Promise<string>>()

  const read = async <T>(
    region: string,
    signal: AbortSignal,
    call: (at: Ec2, signal: AbortSignal) => Promise<T>,
  ) => {
    const at = await ec2.at(region)
    return repeatSafe((limited) => call(at, limited), { ...limits, signal, problemOf })
  }

  const imageOf = (region: string, type: string, signal: AbortSignal): Promise<string> | string => {
    if (settings.image !== undefined) return settings.image
    const architecture = architectureOf(type)
    const key = `${region} ${architecture}`
    const look =
      images.get(key) ??
      keptFor(IMAGE_KEPT_MS, (asking) =>
        read(region, asking, (at, limited) => newestImage(at, architecture, limited)),
      )
    images.set(key, look)
    return look(signal)
  }

  const instances = async (
    region: string,
    filters: DescribeInstancesCommandInput['Filters'],
    signal: AbortSignal,
  ) => {
    const found: Instance[] = []
    let NextToken: string | undefined
    do {
      const page = await read(region, signal, ({ client, sdk }, abortSignal) =>
        client.send(
          new sdk.DescribeInstancesCommand({ Filters: filters, MaxResults: PAGE_SIZE, NextToken }),
          {
            abortSignal,
          },
        ),
      )
      found.push(...(page.Reservations ?? []).flatMap(({ Instances = [] }) => Instances))
      if (found.length > MOST_MACHINES)
        throw new CloudError(
          'refused',
          `aws lists more than ${MOST_MACHINES} machines of this farm in ${region}`,
        )
      NextToken = page.NextToken
    } while (NextToken)
    return found.map((instance) => machineOf(region, instance, settings.privateAddress))
  }

  /** A call that says "dry run": EC2 checks whether we may, and does nothing. */
  const mayWe = async (call: (at: Ec2, signal: AbortSignal) => Promise<unknown>, signal: AbortSignal) =>
    read(region, signal, async (at, limited) => {
      try {
        await call(at, limited)
      } catch (error) {
        if (codeOf(error) === 'DryRunOperation') return
        throw error
      }
    })

  const made = async (request: MachineRequest, signal: AbortSignal): Promise<Machine> => {
    const image = await imageOf(request.region, request.type, signal)
    const { client, sdk } = await ec2.at(request.region)
    const answer = await callOnce(
      (abortSignal) =>
        client.send(new sdk.RunInstancesCommand(runInput(request, settings, image)), { abortSignal }),
      { ...limits, signal, problemOf },
    )
    const [instance] = answer.Instances ?? []
    if (instance) return machineOf(request.region, instance, settings.privateAddress)
    throw new CloudError('unavailable', 'aws took the order for a machine and named none')
  }

  return {
    name: 'aws',
    defaults: {
      region,
      type: settings.type ?? DEFAULT_TYPE,
      sshUser: SSH_USER,
    },

    async check(signal) {
      await mayWe(
        ({ client, sdk }, abortSignal) =>
          client.send(new sdk.DescribeInstancesCommand({ DryRun: true }), { abortSignal }),
        signal,
      )
      try {
        const type = settings.type ?? DEFAULT_TYPE
        const input = runInput(probe(region, type), settings, await imageOf(region, type, signal))
        await mayWe(
          ({ client, sdk }, abortSignal) =>
            client.send(new sdk.RunInstancesCommand({ ...input, DryRun: true }), { abortSignal }),
          signal,
        )
      } catch (error) {
        // A kind that is not to be had here: we were let in, and the kind that is asked for may be another one.
        if (!(error instanceof CloudError) || !['refused', 'capacity'].includes(error.problem)) throw error
      }
    },

    async create(request, signal) {
      if (!regions.includes(request.region))
        throw new CloudError(
          'refused',
          `machines are made and looked for in ${regions.join(', ')}; add ${request.region} to the regions in the settings of aws`,
        )
      try {
        return await made(request, signal)
      } catch (error) {
        // Asked before, with an older image perhaps: the machine is there.
        if (!(error instanceof CloudError) || codeOf(error.cause) !== 'IdempotentParameterMismatch')
          throw error
        const filters = [
          { Name: 'tag:Name', Values: [request.name] },
          { Name: `tag:${LABEL_KEYS.farm}`, Values: [request.labels.farm] },
        ]
        const [machine] = await instances(request.region, filters, signal)
        if (machine) return machine
        throw error
      }
    },

    async describe(id, signal) {
      const { region, instance } = parseId(id)
      try {
        const answer = await read(region, signal, ({ client, sdk }, abortSignal) =>
          client.send(new sdk.DescribeInstancesCommand({ InstanceIds: [instance] }), { abortSignal }),
        )
        const [found] = (answer.Reservations ?? []).flatMap(({ Instances = [] }) => Instances)
        return found && machineOf(region, found, settings.privateAddress)
      } catch (error) {
        if (isUnknown(error)) return undefined
        throw error
      }
    },

    async destroy(id, signal) {
      const { region, instance } = parseId(id)
      try {
        await read(region, signal, ({ client, sdk }, abortSignal) =>
          client.send(new sdk.TerminateInstancesCommand({ InstanceIds: [instance] }), { abortSignal }),
        )
      } catch (error) {
        if (!isUnknown(error)) throw error
      }
    },

    /** A region that does not answer fails the whole: machines left out would look as if they were gone. */
    async list(farm, signal) {
      const filters = [
        { Name: `tag:${LABEL_KEYS.farm}`, Values: [farm] },
        { Name: 'instance-state-name', Values: OPEN_STATES },
      ]
      const found = await Promise.all(regions.map((region) => instances(region, filters, signal)))
      return found.flat()
    },

    async price({ region, type, spot }, signal) {
      const own = settings.prices[type]
      if (own !== undefined) return own
      return (spot && (await spotPrice(region, type, signal))) || onDemandPrice(region, type)
    },

    async [Symbol.asyncDispose]() {
      ec2.close()
    },
  }

  /** The highest one of the region's zones now: EC2 chooses the zone. */
  async function spotPrice(region: string, type: string, signal: AbortSignal): Promise<number | undefined> {
    const { SpotPriceHistory = [] } = await read(region, signal, ({ client, sdk }, abortSignal) =>
      client.send(
        new sdk.DescribeSpotPriceHistoryCommand({
          // A type that is not in the SDK yet: as a filter, it may be any word.
          Filters: [{ Name: 'instance-type', Values: [type] }],
          ProductDescriptions: ['Linux/UNIX'],
          // From now on: EC2 gives the prices that are in force.
          StartTime: new Date(),
          MaxResults: MOST_PRICES,
        }),
        { abortSignal },
      ),
    )
    const prices = SpotPriceHistory.map(({ SpotPrice }) => Number(SpotPrice)).filter((price) => price > 0)
    return prices.length > 0 ? Math.max(...prices) : undefined
  }
}

const isUnknown = (error: unknown): boolean =>
  error instanceof CloudError && codeOf(error.cause) === 'InvalidInstanceID.NotFound'

const probe = (region: string, type: string): MachineRequest => ({
  name: 'scanfarm-check',
  labels: { farm: 'check', infra: 'check', expires: 0 },
  region,
  type,
  spot: false,
  userData: '',
  sshUser: SSH_USER,
  publicKey: '',
})
