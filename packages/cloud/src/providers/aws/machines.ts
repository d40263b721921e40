import type { _InstanceType, Instance, RunInstancesCommandInput, Tag } from '@aws-sdk/client-ec2'
import { CloudError, type Machine, type MachineRequest, type MachineState } from '../../provider.ts'
import { labelsOfTags, labelsToTags } from '../label-keys.ts'
import type { AwsSettings } from './settings.ts'

const STATES: Readonly<Record<string, MachineState>> = {
  pending: 'starting',
  running: 'running',
  'shutting-down': 'stopping',
  stopping: 'stopping',
  // A machine that somebody stopped does no work and still costs its disk.
  stopped: 'stopping',
  terminated: 'gone',
}

/** Of instances that are not gone. */
export const OPEN_STATES = ['pending', 'running', 'shutting-down', 'stopping', 'stopped']

/** Of `region/instance`: EC2's own ids do not tell where to ask. */
export function parseId(id: string): { region: string; instance: string } {
  const [region, instance] = id.split('/')
  if (!region || !instance)
    throw new CloudError('refused', `"${id}" is no machine of aws: want region/instance`)
  return { region, instance }
}

export function machineOf(region: string, instance: Instance, privateAddress: boolean): Machine {
  const tags = Object.fromEntries((instance.Tags ?? []).map(({ Key, Value }) => [Key ?? '', Value]))
  return {
    id: `${region}/${instance.InstanceId}`,
    name: tags.Name ?? '',
    state: STATES[instance.State?.Name ?? ''] ?? 'starting',
    address: (privateAddress ? instance.PrivateIpAddress : instance.PublicIpAddress) || undefined,
    port: 22,
    labels: labelsOfTags(tags),
    // After an interruption: "Server.SpotInstanceTermination: Spot instance termination".
    message: instance.StateReason?.Message || instance.StateTransitionReason || '',
  }
}

/** One call that makes the machine and labels all that comes into being with it. */
export function runInput(
  request: MachineRequest,
  settings: AwsSettings,
  image: string,
): RunInstancesCommandInput {
  const tags: Tag[] = Object.entries({ Name: request.name, ...labelsToTags(request.labels) }).map(
    ([Key, Value]) => ({ Key, Value }),
  )
  return {
    // EC2 answers a second call with one token with the machine of the first.
    ClientToken: request.name,
    MinCount: 1,
    MaxCount: 1,
    ImageId: image,
    // Types that are newer than the SDK are EC2's to refuse.
    InstanceType: request.type as _InstanceType,
    UserData: Buffer.from(request.userData).toString('base64'),
    TagSpecifications: [
      { ResourceType: 'instance', Tags: tags },
      { ResourceType: 'volume', Tags: tags },
    ],
    InstanceInitiatedShutdownBehavior: 'terminate',
    // What a scanned site talks a tool into asking cannot be the role's credentials.
    MetadataOptions: { HttpEndpoint: 'enabled', HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
    ...network(settings),
    ...(request.spot && {
      InstanceMarketOptions: {
        MarketType: 'spot' as const,
        SpotOptions: {
          SpotInstanceType: 'one-time' as const,
          InstanceInterruptionBehavior: 'terminate' as const,
        },
      },
    }),
  }
}

/** Without a subnet EC2 takes one of the default VPC, whose own rule gives public addresses. */
function network({ subnet, securityGroups, privateAddress }: AwsSettings): Partial<RunInstancesCommandInput> {
  const groups = securityGroups.length > 0 ? [...securityGroups] : undefined
  if (subnet === undefined) return { ...(groups && { SecurityGroupIds: groups }) }
  return {
    NetworkInterfaces: [
      {
        DeviceIndex: 0,
        SubnetId: subnet,
        AssociatePublicIpAddress: !privateAddress,
        DeleteOnTermination: true,
        ...(groups && { Groups: groups }),
      },
    ],
  }
}
