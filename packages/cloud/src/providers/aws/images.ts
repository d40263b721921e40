import { CloudError } from '../../provider.ts'
import type { Ec2 } from './ec2.ts'

/** Canonical's account: anybody may publish an image that calls itself Ubuntu. */
const CANONICAL = '099720109477'
const NAME = 'ubuntu/images/hvm-ssd*/ubuntu-noble-24.04-'
/** A new image comes every few weeks. */
export const IMAGE_KEPT_MS = 3_600_000

/** Families of Arm processors have a `g` after their generation (`t4g`, `c7gn`, `im4gn`), and there is `a1`. */
export const architectureOf = (type: string): 'arm64' | 'x86_64' =>
  /^(a1|[a-z]+\d+[a-z]*g[a-z]*)\./.test(type) ? 'arm64' : 'x86_64'

/** The id of the newest image of that architecture in the client's region. */
export async function newestImage(
  { client, sdk }: Ec2,
  architecture: 'arm64' | 'x86_64',
  abortSignal: AbortSignal,
): Promise<string> {
  const { Images = [] } = await client.send(
    new sdk.DescribeImagesCommand({
      Owners: [CANONICAL],
      Filters: [
        { Name: 'name', Values: [`${NAME}${architecture === 'arm64' ? 'arm64' : 'amd64'}-server-*`] },
        { Name: 'architecture', Values: [architecture] },
        { Name: 'state', Values: ['available'] },
      ],
    }),
    { abortSignal },
  )
  const [newest] = Images.toSorted((a, b) => (b.CreationDate ?? '').localeCompare(a.CreationDate ?? ''))
  if (newest?.ImageId) return newest.ImageId
  throw new CloudError(
    'refused',
    `aws has no Ubuntu 24.04 image for ${architecture} here; name one in the settings`,
  )
}
