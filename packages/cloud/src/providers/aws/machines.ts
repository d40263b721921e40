import type { _InstanceType, Instance, RunInstancesCommandInput, Tag } from '@aws-sdk/client-ec2'
import type { Machine, MachineRequest, MachineState } from '../../provider.ts'
import { labelsOfTags, labelsToTags } from '../labels.ts'
import type { AwsSettings } from '../settings.ts'

const STATES: Readonly<Record<string, MachineState>> = {
  pending: 'starting',
  running: 'running',
  'shutting-down': 'stopping',
  stopping: 'stopping',
  // A stopped machine does no work but its disk is charged.
  stopped: 'stopping',
  terminated: 'gone',
}

/** States of instances that are not terminated. */
export const OPEN_STATES = ['pending', 'running', 'shutting-down', 'stopping', 'stopped']

export function machineOf(region: string, instance: Instance, privateAddress: boolean): Machine {
  const tags = Object.fromEntries((instance.Tags ?? []).map(({ Key, Value }) => [Key ?? '', Value]))
  return {
    // EC2's own ids do not contain the region.
    id: `${region}/${instance.InstanceId}`,
    name: tags.Name ?? '',
    state: STATES[instance.State?.Name ?? ''] ?? 'starting',
    address: (privateAddress ? instance.PrivateIpAddress : instance.PublicIpAddress) || undefined,
    port: 22,
    labels: labelsOfTags(tags),
    // For example "Server.SpotInstanceTermination: Spot instance termination".
    message: instance.StateReason?.Message || instance.StateTransitionReason || '',
  }
}

/** Creates and tags the machine and its volume in one call. */
export function runInput(
  request: MachineRequest,
  settings: AwsSettings,
  image: string,
): RunInstancesCommandInput {
  const tags: Tag[] = Object.entries({ Name: request.name, ...labelsToTags(request.labels) }).map(
    ([Key, Value]) => ({ Key, Value }),
  )
  return {
    // EC2 returns the same machine for a second call with the same token.
    ClientToken: request.name,
    MinCount: 1,
    MaxCount: 1,
    ImageId: image,
    // The type may be newer than the SDK.
    InstanceType: request.type as _InstanceType,
    UserData: Buffer.from(request.userData).toString('base64'),
    TagSpecifications: [
      { ResourceType: 'instance', Tags: tags },
      { ResourceType: 'volume', Tags: tags },
    ],
    InstanceInitiatedShutdownBehavior: 'terminate',
    // A scanned site must not trick a tool into fetching the role's credentials.
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

/** Without a subnet, EC2 uses the default VPC, whose subnets assign public addresses. */
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
