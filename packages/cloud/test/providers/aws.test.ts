// long
import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVolumesCommand,
  EC2Client,
  RunInstancesCommand,
  type Instance,
} from '@aws-sdk/client-ec2'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MOTO_INSTALL_MS } from '@scanfarm/testing'
import { inspect } from 'node:util'
import { createAwsProvider } from '../../src/providers/aws/index.ts'
import type { AwsSettings } from '../../src/providers/settings.ts'
import { ec2Checker } from './aws-description.ts'
import { startFaultyEc2, WORDS } from './aws-faults.ts'
import { describedCalls, startEc2Server, type Ec2Image, type Ec2Server } from './aws-server.ts'
import type { CallLimits } from '../../src/providers/calls.ts'
import { CALL_LIMITS, FARM, machineRequest, providerConformance, signal, type World } from './conformance.ts'

// The server (moto) implements images, subnets, states, filters and pages of EC2. Requests are validated with Amazon's API
// description (names, types, enums, required fields). The proxy in front of it implements client tokens. One test checks
// signatures and permissions.

const CANONICAL = '099720109477'
const noble = (id: string, made: string, over: Partial<Ec2Image> = {}): Ec2Image => ({
  id,
  name: `ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-${made.slice(0, 10).replaceAll('-', '')}`,
  owner: CANONICAL,
  architecture: 'x86_64',
  made,
  ...over,
})
const NEWEST = 'ami-0000000000000002'
const ARM = 'ami-0000000000000003'
const IMAGES = [
  noble('ami-0000000000000001', '2026-01-05T00:00:00.000Z'),
  noble(NEWEST, '2026-03-05T00:00:00.000Z'),
  noble(ARM, '2026-03-06T00:00:00.000Z', {
    architecture: 'arm64',
    name: 'ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-arm64-server-20260306',
  }),
  noble('ami-000000000000bad1', '2026-06-06T00:00:00.000Z', { owner: '666666666666' }),
  noble('ami-0000000000000004', '2026-06-07T00:00:00.000Z', {
    name: 'ubuntu/images/hvm-ssd-gp3/ubuntu-jammy-22.04-amd64-server-20260607',
  }),
]
const CREDENTIALS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'test' }
const SETTINGS: AwsSettings = {
  accessKey: CREDENTIALS.accessKeyId,
  secretKey: CREDENTIALS.secretAccessKey,
  region: 'us-east-1',
  regions: ['us-east-1', 'eu-west-1'],
  type: 't3.micro',
  image: undefined,
  subnet: undefined,
  securityGroups: [],
  endpoint: undefined,
  privateAddress: false,
  prices: {},
}
const REQUEST = machineRequest('us-east-1', 't3.micro', { sshUser: 'ubuntu' })

let server: Ec2Server
let check: (form: URLSearchParams) => string[]
beforeAll(async () => {
  server = await startEc2Server(IMAGES)
  check = ec2Checker(await describedCalls())
  // The first call for a region takes longer than the time limits below.
  await using provider = createAwsProvider({ ...SETTINGS, endpoint: server.endpoint })
  await provider.check(AbortSignal.timeout(60_000))
  await provider.list(FARM, AbortSignal.timeout(60_000))
}, MOTO_INSTALL_MS)
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

interface AwsWorld extends World {
  instance(name: string, region?: string): Promise<Instance | undefined>
  readonly direct: EC2Client
  readonly endpoint: string
}

async function openWorld(
  over: Partial<AwsSettings> = {},
  limits: CallLimits = CALL_LIMITS,
): Promise<AwsWorld> {
  await server.reset()
  const faulty = await startFaultyEc2(server.endpoint, check)
  const provider = createAwsProvider({ ...SETTINGS, ...over, endpoint: faulty.endpoint }, limits)
  const at = (region: string) =>
    new EC2Client({ region, endpoint: server.endpoint, credentials: CREDENTIALS })
  const direct = at('us-east-1')
  const elsewhere = at('eu-west-1')
  const instances = async (client: EC2Client): Promise<Instance[]> => {
    const { Reservations = [] } = await client.send(new DescribeInstancesCommand({ MaxResults: 1_000 }))
    return Reservations.flatMap(({ Instances = [] }) => Instances)
  }
  const instance = async (name: string, region = 'us-east-1') =>
    (await instances(region === 'us-east-1' ? direct : elsewhere)).find((one) => nameOf(one) === name)
  return {
    provider,
    direct,
    endpoint: faulty.endpoint,
    instance,
    fault: faulty.fault,
    creates: faulty.creates,
    violations: faulty.violations,
    async there() {
      const open = (await instances(direct)).filter(({ State }) => State?.Name !== 'terminated')
      return open.map(nameOf)
    },
    async createRequest(name) {
      const { UserData } = await direct.send(
        new DescribeInstanceAttributeCommand({
          InstanceId: (await instance(name))?.InstanceId,
          Attribute: 'userData',
        }),
      )
      return { userData: Buffer.from(UserData?.Value ?? '', 'base64').toString() }
    },
    async plant(count, farm) {
      for (let n = 0; n < count; n++) {
        const Tags = [
          { Key: 'Name', Value: `planted-${farm}-${n}` },
          { Key: 'scanfarm-farm', Value: farm },
        ]
        const TagSpecifications = [{ ResourceType: 'instance' as const, Tags }]
        await direct.send(
          new RunInstancesCommand({ ImageId: NEWEST, MinCount: 1, MaxCount: 1, TagSpecifications }),
        )
      }
    },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]()
      direct.destroy()
      elsewhere.destroy()
      await faulty[Symbol.asyncDispose]()
    },
  }
}

const nameOf = ({ Tags = [] }: Instance): string => Tags.find(({ Key }) => Key === 'Name')?.Value ?? ''
providerConformance('aws', (limits) => openWorld({}, limits), {
  region: 'us-east-1',
  type: 't3.micro',
  price: 0.0104,
  pages: 21,
  spot: 'offered',
  words: WORDS,
})

describe('aws', () => {
  test('uses the newest image of Canonical for the processor of the type', async () => {
    await using world = await openWorld()
    await world.provider.create(REQUEST, signal())
    await world.provider.create({ ...REQUEST, name: 'arm', type: 't4g.small' }, signal())
    expect((await world.instance(REQUEST.name))?.ImageId).toBe(NEWEST)
    expect((await world.instance('arm'))?.ImageId).toBe(ARM)
  })

  test('tags the disk, requires metadata tokens, and terminates the machine when it shuts down', async () => {
    await using world = await openWorld()
    const { id } = await world.provider.create(REQUEST, signal())
    const [, InstanceId] = id.split('/')
    const { Volumes = [] } = await world.direct.send(
      new DescribeVolumesCommand({
        Filters: [{ Name: 'attachment.instance-id', Values: [InstanceId ?? ''] }],
      }),
    )
    expect(Volumes[0]?.Tags).toEqual(
      expect.arrayContaining([
        { Key: 'scanfarm-farm', Value: FARM },
        { Key: 'scanfarm-infra', Value: '0123456789abcdef' },
        { Key: 'scanfarm-expires', Value: '1900000000' },
      ]),
    )
    expect((await world.instance(REQUEST.name))?.MetadataOptions).toMatchObject({ HttpTokens: 'required' })
    const ending = await world.direct.send(
      new DescribeInstanceAttributeCommand({ InstanceId, Attribute: 'instanceInitiatedShutdownBehavior' }),
    )
    expect(ending.InstanceInitiatedShutdownBehavior?.Value).toBe('terminate')
  })

  test('creates one machine for two calls with one name, also if the user data has changed', async () => {
    await using world = await openWorld()
    const first = await world.provider.create(REQUEST, signal())
    const second = await world.provider.create(REQUEST, signal())
    const third = await world.provider.create({ ...REQUEST, userData: '#cloud-config\n# other\n' }, signal())
    expect([second.id, third.id]).toEqual([first.id, first.id])
    expect(await world.there()).toEqual([REQUEST.name])
    expect(world.violations()).toEqual([])
  })

  test('creates spot machines that are terminated when they are interrupted', async () => {
    await using world = await openWorld()
    await world.provider.create({ ...REQUEST, spot: true }, signal())
    expect((await world.instance(REQUEST.name))?.InstanceLifecycle).toBe('spot')
    expect(world.violations()).toEqual([])
  })

  test('finds machines in all configured regions, and creates none in others', async () => {
    await using world = await openWorld()
    const here = await world.provider.create(REQUEST, signal())
    const there = await world.provider.create({ ...REQUEST, name: 'abroad', region: 'eu-west-1' }, signal())
    const listed = await world.provider.list(FARM, signal())
    expect(listed.map(({ id }) => id).sort()).toEqual([here.id, there.id].sort())
    expect(there.id).toMatch(/^eu-west-1\/i-/)
    await world.provider.destroy(there.id, signal())
    expect((await world.provider.describe(there.id, signal()))?.state).toBe('gone')
    expect(await world.provider.list(FARM, signal())).toHaveLength(1)

    await expect(world.provider.create({ ...REQUEST, region: 'sa-east-1' }, signal())).rejects.toMatchObject({
      problem: 'refused',
      message: 'machines are created only in us-east-1, eu-west-1: add aws=sa-east-1 to cloud.regions',
    })
  })

  test('creates machines in the configured subnet and security groups', async () => {
    await using finding = await openWorld()
    const { Subnets = [] } = await finding.direct.send(new DescribeSubnetsCommand({}))
    const { SecurityGroups = [] } = await finding.direct.send(new DescribeSecurityGroupsCommand({}))
    const [subnet, group] = [Subnets[0]?.SubnetId, SecurityGroups[0]?.GroupId ?? '']
    const provider = (over: Partial<AwsSettings>) =>
      createAwsProvider({ ...SETTINGS, subnet, ...over, endpoint: finding.endpoint }, CALL_LIMITS)
    await using outside = provider({ securityGroups: [group] })
    await using inside = provider({ privateAddress: true })
    const { id } = await outside.create(REQUEST, signal())
    expect(await finding.instance(REQUEST.name)).toMatchObject({
      SubnetId: subnet,
      NetworkInterfaces: [{ Groups: [{ GroupId: group }] }],
    })
    const [open, hidden] = [await outside.describe(id, signal()), await inside.describe(id, signal())]
    expect(hidden?.address).toMatch(/^(10|172)\./)
    expect(open?.address).not.toBe(hidden?.address)
    await inside.create({ ...REQUEST, name: 'inside' }, signal())
    expect((await finding.instance('inside'))?.SubnetId).toBe(subnet)
    expect(finding.violations()).toEqual([])
  })

  test('reports the errors of EC2 for an unknown subnet and image', async () => {
    await using subnet = await openWorld({ subnet: 'subnet-0123456789abcdef0', securityGroups: ['sg-1'] })
    await expect(subnet.provider.create(REQUEST, signal())).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringMatching(/^InvalidSubnetID\.NotFound: .*subnet-0123456789abcdef0/),
    })
    expect(subnet.violations()).toEqual([])
    await using image = await openWorld({ image: 'ami-00000000deadbeef0' })
    await expect(image.provider.create(REQUEST, signal())).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringContaining('ami-00000000deadbeef0'),
    })
  })

  test('returns undefined for an unknown id', async () => {
    await using world = await openWorld()
    expect(await world.provider.describe('us-east-1/i-0123456789abcdef0', signal())).toBeUndefined()
    await world.provider.destroy('us-east-1/i-0123456789abcdef0', signal())
    await expect(world.provider.describe('nonsense', signal())).rejects.toMatchObject({ problem: 'refused' })
  })

  test('reads spot prices, and overestimates other regions', async () => {
    await using world = await openWorld()
    const price = (type: string, spot: boolean, region = 'us-east-1') =>
      world.provider.price({ region, type, spot }, signal())
    expect(await price('t3.micro', true)).toBe(0.00001)
    expect(await price('t3.micro', false, 'eu-west-1')).toBeCloseTo(0.01196, 6)
    expect(await price('t3.micro', false, 'xx-nowhere-1')).toBeUndefined()
    expect(world.violations()).toEqual([])
  })

  test('is accepted with a signature and six permissions, and refused with read permissions only', async () => {
    await server.reset()
    const all = ['RunInstances', 'CreateTags', 'TerminateInstances', 'DescribeInstances', 'DescribeImages']
    const actions = [...all, 'DescribeSpotPriceHistory'].map((action) => `ec2:${action}`)
    const good = await server.addUser('good', actions)
    const reader = await server.addUser('reader', ['ec2:Describe*'])
    await server.guard(true)
    const make = (keys: Partial<AwsSettings>) =>
      createAwsProvider({ ...SETTINGS, ...keys, endpoint: server.endpoint })
    try {
      await using provider = make(good)
      await provider.check(signal())
      const { id } = await provider.create({ ...REQUEST, spot: true }, signal())
      await provider.price({ region: 'us-east-1', type: 't3.micro', spot: true }, signal())
      expect(await provider.list(FARM, signal())).toHaveLength(1)
      await provider.destroy(id, signal())

      const others = [
        reader,
        { ...good, secretKey: 'wrong' },
        { accessKey: 'AKIAUNKNOWN', secretKey: 'wrong' },
      ]
      for (const keys of others) {
        await using other = make(keys)
        await expect(other.check(signal())).rejects.toMatchObject({ problem: 'credentials' })
        await expect(other.create(REQUEST, signal())).rejects.toMatchObject({ problem: 'credentials' })
      }
    } finally {
      await server.guard(false)
    }
  })

  test('keeps the secret key out of error messages', async () => {
    await using world = await openWorld({ secretKey: 'the-secret-of-the-account' })
    for (const kind of ['cut', 'quota', 'denied'] as const) {
      world.fault('create', { kind })
      const error: unknown = await world.provider.create(REQUEST, signal()).catch((caught: unknown) => caught)
      expect(error).toMatchObject({ name: 'CloudError' })
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('the-secret-of-the-account')
    }
  })

  test('requires both keys or neither', async () => {
    await using world = await openWorld({ secretKey: undefined })
    await expect(world.provider.check(signal())).rejects.toMatchObject({
      problem: 'credentials',
      message: 'aws wants both an access key and a secret key, or neither',
    })
  })

  test('reports an unreachable endpoint', async () => {
    await using provider = createAwsProvider(
      { ...SETTINGS, endpoint: 'http://127.0.0.1:1' },
      { ...CALL_LIMITS, tries: 2 },
    )
    await expect(provider.list(FARM, signal())).rejects.toMatchObject({
      problem: 'unavailable',
      message: expect.stringContaining('AWS cannot be reached'),
    })
  })
})
