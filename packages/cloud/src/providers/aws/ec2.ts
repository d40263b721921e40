import type { EC2Client } from '@aws-sdk/client-ec2'
import { CloudError } from '../../provider.ts'
import type { AwsSettings } from './settings.ts'

export type Sdk = typeof import('@aws-sdk/client-ec2')

export interface Ec2 {
  readonly client: EC2Client
  readonly sdk: Sdk
}

/** Open connections to one region, besides those that wait. */
const MOST_SOCKETS = 20

/** One client a region, made when first asked for; so is the SDK loaded, which takes 90 MB of memory. */
export function openEc2(settings: AwsSettings) {
  const clients = new Map<string, EC2Client>()
  return {
    async at(region: string): Promise<Ec2> {
      const sdk = await import('@aws-sdk/client-ec2')
      const client = clients.get(region) ?? new sdk.EC2Client(optionsOf(settings, region))
      clients.set(region, client)
      return { client, sdk }
    },
    close(): void {
      for (const client of clients.values()) client.destroy()
      clients.clear()
    },
  }
}

function optionsOf({ accessKey, secretKey, endpoint }: AwsSettings, region: string) {
  if ((accessKey === undefined) !== (secretKey === undefined))
    throw new CloudError('credentials', 'aws wants both an access key and a secret key, or neither')
  return {
    region,
    // Repetition is the caller's: it knows what is safe to repeat, and for how long.
    maxAttempts: 1,
    requestHandler: { httpAgent: { maxSockets: MOST_SOCKETS }, httpsAgent: { maxSockets: MOST_SOCKETS } },
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKey !== undefined &&
      secretKey !== undefined && {
        credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
      }),
  }
}
