import type { CloudProviderName } from '@scanfarm/contracts'
import { valuesOf, type Config } from '../settings.ts'
import type { LocalSettings } from './local/index.ts'

type Cloud = Config['cloud']
type Optional<K extends string> = { readonly [N in K]: string | undefined }

/** What all paid providers have in common. */
interface Common extends Optional<'region' | 'type' | 'image' | 'endpoint'> {
  readonly privateAddress: boolean
  /** The operator's own prices: US dollars an hour by machine type. */
  readonly prices: Readonly<Record<string, number>>
}

export interface AwsSettings extends Common, Optional<'accessKey' | 'secretKey' | 'subnet'> {
  /** Additional regions that requests may name. */
  readonly regions: readonly string[]
  readonly securityGroups: readonly string[]
}

export interface GcpSettings
  extends Omit<Common, 'region'>, Optional<'credentialsFile' | 'project' | 'zone' | 'network'> {
  /** Zones in which machines are created if a request names their region. */
  readonly zones: readonly string[]
}

export interface AzureSettings
  extends
    Common,
    Optional<'tenant' | 'client' | 'secret' | 'subscription' | 'resourceGroup' | 'subnet' | 'authority'> {}

export interface DigitalOceanSettings extends Common, Optional<'token' | 'vpc'> {}

export interface LinodeSettings extends Omit<Common, 'privateAddress'>, Optional<'token'> {}

export interface HetznerSettings extends Common, Optional<'token' | 'network'> {}

/** A missing provider is not configured. */
export interface ProviderSettings {
  readonly aws?: AwsSettings
  readonly gcp?: GcpSettings
  readonly azure?: AzureSettings
  readonly digitalocean?: DigitalOceanSettings
  readonly linode?: LinodeSettings
  readonly hetzner?: HetznerSettings
  readonly local?: LocalSettings
}

/** The providers whose required settings are present. Their credentials are not checked. */
export function providerSettings(cloud: Cloud): ProviderSettings {
  const credentials = new Map(
    cloud.credentials.map(({ name, value, file }) => [name, { text: value?.reveal(), file }]),
  )
  const token = (name: CloudProviderName): string | undefined => credentials.get(name)?.text
  const first = (entries: readonly string[], name: string): string | undefined => valuesOf(entries, name)[0]
  const common = (name: Exclude<CloudProviderName, 'local'>): Common => ({
    region: first(cloud.regions, name),
    type: first(cloud.types, name),
    image: first(cloud.images, name),
    endpoint: first(cloud.endpoints, name),
    privateAddress: cloud.privateAddresses.includes(name),
    prices: pricesOf(cloud, name),
  })
  const [awsRegion, ...awsRegions] = valuesOf(cloud.regions, 'aws')
  const [zone, ...zones] = valuesOf(cloud.regions, 'gcp')
  const [accessKey, secretKey] = token('aws')?.split(':') ?? []
  const [tenant, client, ...secret] = token('azure')?.split(':') ?? []
  const [subscription, resourceGroup] = first(cloud.projects, 'azure')?.split('/') ?? []
  const gcp = { project: first(cloud.projects, 'gcp'), credentialsFile: credentials.get('gcp')?.file }
  const [digitalocean, linode, hetzner] = (['digitalocean', 'linode', 'hetzner'] as const).map(token)
  const dockerSocket = first(cloud.endpoints, 'local')
  const awsNetworks = valuesOf(cloud.networks, 'aws')
  const isGroup = (id: string): boolean => id.startsWith('sg-')
  return {
    // Without keys, the region selects the usual AWS credentials.
    ...((accessKey ?? awsRegion) !== undefined && {
      aws: {
        ...common('aws'),
        accessKey,
        secretKey,
        regions: awsRegions,
        subnet: awsNetworks.find((id) => !isGroup(id)),
        securityGroups: awsNetworks.filter(isGroup),
      },
    }),
    // A credentials file names its project.
    ...((gcp.project ?? gcp.credentialsFile) !== undefined && {
      gcp: { ...common('gcp'), ...gcp, zone, zones, network: first(cloud.networks, 'gcp') },
    }),
    ...(subscription !== undefined && {
      azure: {
        ...common('azure'),
        tenant,
        client,
        secret: client === undefined ? undefined : secret.join(':'),
        subscription,
        resourceGroup,
        subnet: first(cloud.networks, 'azure'),
        authority: first(cloud.endpoints, 'azure-login'),
      },
    }),
    ...(digitalocean !== undefined && {
      digitalocean: {
        ...common('digitalocean'),
        token: digitalocean,
        vpc: first(cloud.networks, 'digitalocean'),
      },
    }),
    ...(linode !== undefined && { linode: { ...common('linode'), token: linode } }),
    ...(hetzner !== undefined && {
      hetzner: {
        ...common('hetzner'),
        token: hetzner,
        network: first(cloud.networks, 'hetzner'),
      },
    }),
    ...(dockerSocket !== undefined && { local: { dockerSocket, image: first(cloud.images, 'local') } }),
  }
}

/** `cloud.prices` has entries of the form `provider:type=dollars`. */
const pricesOf = (
  { prices }: Cloud,
  name: Exclude<CloudProviderName, 'local'>,
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    prices
      .filter((price) => price.startsWith(`${name}:`))
      .map((price) => {
        const [type = '', dollars] = price.slice(name.length + 1).split('=')
        return [type, Number(dollars)]
      }),
  )
