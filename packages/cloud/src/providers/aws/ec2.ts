import type { EC2 } from '@aws-sdk/client-ec2'
import { CloudError } from '../../provider.ts'
import type { AwsSettings } from '../settings.ts'
import { loadSdk } from '../sdk.ts'

/** Open connections to one region. */
const MOST_SOCKETS = 20

/** One client for each region. The SDK takes 90 MB of memory and is loaded on first use. */
export function openEc2(settings: AwsSettings) {
  const clients = new Map<string, EC2>()
  return {
    async at(region: string): Promise<EC2> {
      const sdk = await loadSdk('aws', async () => await import('@aws-sdk/client-ec2'))
      const client = clients.get(region) ?? new sdk.EC2(optionsOf(settings, region))
      clients.set(region, client)
      return client
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
    // Callers retry: they know which calls are safe to repeat, and for how long.
    maxAttempts: 1,
    requestHandler: { httpAgent: { maxSockets: MOST_SOCKETS }, httpsAgent: { maxSockets: MOST_SOCKETS } },
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKey !== undefined &&
      secretKey !== undefined && {
        credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
      }),
  }
}

/** Canonical's account. Other accounts may publish images with the same names. */
const CANONICAL = '099720109477'
const NAME = 'ubuntu/images/hvm-ssd*/ubuntu-noble-24.04-'
/** New images are published every few weeks. */
export const IMAGE_TTL_MS = 3_600_000

/** Instance families with Arm processors have a `g` after the generation (`t4g`, `c7gn`, `im4gn`); `a1` is an exception. */
export const architectureOf = (type: string): 'arm64' | 'x86_64' =>
  /^(a1|[a-z]+\d+[a-z]*g[a-z]*)\./.test(type) ? 'arm64' : 'x86_64'

/** The id of the newest Ubuntu image in the client's region. */
export async function newestImage(
  ec2: EC2,
  architecture: 'arm64' | 'x86_64',
  abortSignal: AbortSignal,
): Promise<string> {
  const input = {
    Owners: [CANONICAL],
    Filters: [
      { Name: 'name', Values: [`${NAME}${architecture === 'arm64' ? 'arm64' : 'amd64'}-server-*`] },
      { Name: 'architecture', Values: [architecture] },
      { Name: 'state', Values: ['available'] },
    ],
  }
  const { Images = [] } = await ec2.describeImages(input, { abortSignal })
  const [newest] = Images.toSorted((a, b) => (b.CreationDate ?? '').localeCompare(a.CreationDate ?? ''))
  if (newest?.ImageId) return newest.ImageId
  throw new CloudError(
    'refused',
    `aws has no Ubuntu 24.04 image for ${architecture} in this region: set aws=IMAGE in cloud.images`,
  )
}
