import type { DescribeInstancesCommandInput, EC2, Instance } from '@aws-sdk/client-ec2'
import { CloudError, type CloudProvider, type Machine, type MachineRequest } from '../../provider.ts'
import { cached, callOnce, callWithRetry, type CallLimits } from '../calls.ts'
import { LABEL_KEYS, parseId } from '../labels.ts'
import { awsPrice } from '../prices.ts'
import type { AwsSettings } from '../settings.ts'
import { architectureOf, IMAGE_TTL_MS, newestImage, openEc2 } from './ec2.ts'
import { codeOf, problemOf } from './errors.ts'
import { machineOf, OPEN_STATES, runInput } from './machines.ts'

const DEFAULT_REGION = 'us-east-1'
const DEFAULT_TYPE = 't3.medium'
/** The default user of Ubuntu's images. */
const SSH_USER = 'ubuntu'

const PAGE_SIZE = 1_000
/** Of one farm in one region. */
const MOST_MACHINES = 10_000
const MOST_PRICES = 100

/** Machines are EC2 instances. */
export function createAwsProvider(settings: AwsSettings, limits: CallLimits = {}): CloudProvider {
  const ec2 = openEc2(settings)
  const region = settings.region ?? DEFAULT_REGION
  const regions = [...new Set([region, ...settings.regions])]
  const images = new Map<string, (signal: AbortSignal) => Promise<string>>()

  const read = async <T>(
    region: string,
    signal: AbortSignal,
    call: (ec2: EC2, signal: AbortSignal) => Promise<T>,
  ) => {
    const at = await ec2.at(region)
    return callWithRetry((limited) => call(at, limited), { ...limits, signal, problemOf })
  }

  const imageOf = (region: string, type: string, signal: AbortSignal): Promise<string> | string => {
    if (settings.image !== undefined) return settings.image
    const architecture = architectureOf(type)
    const key = `${region} ${architecture}`
    const load =
      images.get(key) ??
      cached(IMAGE_TTL_MS, (loading) =>
        read(region, loading, (at, limited) => newestImage(at, architecture, limited)),
      )
    images.set(key, load)
    return load(signal)
  }

  const instances = async (
    region: string,
    filters: DescribeInstancesCommandInput['Filters'],
    signal: AbortSignal,
  ) => {
    const found: Instance[] = []
    let NextToken: string | undefined
    do {
      const input = { Filters: filters, MaxResults: PAGE_SIZE, NextToken }
      const page = await read(region, signal, (at, abortSignal) =>
        at.describeInstances(input, { abortSignal }),
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

  /** For a call with `DryRun`: EC2 checks the permission and does nothing. */
  const checkPermission = async (
    call: (ec2: EC2, signal: AbortSignal) => Promise<unknown>,
    signal: AbortSignal,
  ) =>
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
    const at = await ec2.at(request.region)
    const answer = await callOnce(
      (abortSignal) => at.runInstances(runInput(request, settings, image), { abortSignal }),
      { ...limits, signal, problemOf },
    )
    const [instance] = answer.Instances ?? []
    if (instance) return machineOf(request.region, instance, settings.privateAddress)
    throw new CloudError('unavailable', 'aws accepted the request for a machine but returned none')
  }

  return {
    name: 'aws',
    defaults: {
      region,
      type: settings.type ?? DEFAULT_TYPE,
      sshUser: SSH_USER,
    },

    async check(signal) {
      await checkPermission(
        (at, abortSignal) => at.describeInstances({ DryRun: true }, { abortSignal }),
        signal,
      )
      try {
        const type = settings.type ?? DEFAULT_TYPE
        const input = runInput(probe(region, type), settings, await imageOf(region, type, signal))
        await checkPermission(
          (at, abortSignal) => at.runInstances({ ...input, DryRun: true }, { abortSignal }),
          signal,
        )
      } catch (error) {
        // The credentials are valid; requests may name another type than the default one, which is not available.
        if (!(error instanceof CloudError) || !['refused', 'capacity'].includes(error.problem)) throw error
      }
    },

    async create(request, signal) {
      if (!regions.includes(request.region))
        throw new CloudError(
          'refused',
          `machines are created only in ${regions.join(', ')}: add aws=${request.region} to cloud.regions`,
        )
      try {
        return await made(request, signal)
      } catch (error) {
        // An earlier call with the same token, perhaps with an older image, has created the machine.
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
      const [region, instance] = parseId('aws', id, 'region/instance')
      try {
        const answer = await read(region, signal, (at, abortSignal) =>
          at.describeInstances({ InstanceIds: [instance] }, { abortSignal }),
        )
        const [found] = (answer.Reservations ?? []).flatMap(({ Instances = [] }) => Instances)
        return found && machineOf(region, found, settings.privateAddress)
      } catch (error) {
        if (isUnknown(error)) return undefined
        throw error
      }
    },

    async destroy(id, signal) {
      const [region, instance] = parseId('aws', id, 'region/instance')
      try {
        await read(region, signal, (at, abortSignal) =>
          at.terminateInstances({ InstanceIds: [instance] }, { abortSignal }),
        )
      } catch (error) {
        if (!isUnknown(error)) throw error
      }
    },

    /** Rejects when one region does not respond: its machines would otherwise be taken for gone. */
    async list(farm, signal) {
      const filters = [
        { Name: `tag:${LABEL_KEYS.farm}`, Values: [farm] },
        { Name: 'instance-state-name', Values: OPEN_STATES },
      ]
      const found = await Promise.all(regions.map((region) => instances(region, filters, signal)))
      return found.flat()
    },

    async price({ region, type, spot }, signal) {
      return (spot && (await spotPrice(region, type, signal))) || awsPrice(region, type)
    },

    async [Symbol.asyncDispose]() {
      ec2.close()
    },
  }

  /** The highest price among the zones of the region: EC2 chooses the zone. */
  async function spotPrice(region: string, type: string, signal: AbortSignal): Promise<number | undefined> {
    const input = {
      // As a filter, because the parameter only accepts types that the SDK knows.
      Filters: [{ Name: 'instance-type', Values: [type] }],
      ProductDescriptions: ['Linux/UNIX'],
      // With the present time EC2 returns the prices in force.
      StartTime: new Date(),
      MaxResults: MOST_PRICES,
    }
    const { SpotPriceHistory = [] } = await read(region, signal, (at, abortSignal) =>
      at.describeSpotPriceHistory(input, { abortSignal }),
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
