import type { CloudProviderName } from '@scanfarm/contracts'
import { Secret } from '@scanfarm/platform'
import type { Config } from '../settings.ts'
import type { LocalSettings } from './local/index.ts'

type Cloud = Config['cloud']
type PaidProvider = Exclude<CloudProviderName, 'local'>
type Revealed<T> = { readonly [K in keyof T]: Secret extends T[K] ? string | undefined : T[K] }

/** A group of settings with its secrets revealed, and the operator's own prices: US dollars an hour by machine type. */
type SettingsOf<N extends PaidProvider> = Revealed<Cloud[N]> & {
  readonly prices: Readonly<Record<string, number>>
}

export type AwsSettings = SettingsOf<'aws'>
export type GcpSettings = SettingsOf<'gcp'>
export type AzureSettings = SettingsOf<'azure'>
export type DigitalOceanSettings = SettingsOf<'digitalocean'>
export type LinodeSettings = SettingsOf<'linode'>
export type HetznerSettings = SettingsOf<'hetzner'>

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
  const { aws, gcp, azure, digitalocean, linode, hetzner, local } = cloud
  return {
    // Without keys, the region selects the usual AWS credentials.
    ...((aws.accessKey ?? aws.region) !== undefined && { aws: settingsOf(cloud, 'aws') }),
    // A credentials file names its project.
    ...((gcp.project ?? gcp.credentialsFile) !== undefined && { gcp: settingsOf(cloud, 'gcp') }),
    ...(azure.subscription !== undefined && { azure: settingsOf(cloud, 'azure') }),
    ...(digitalocean.token !== undefined && { digitalocean: settingsOf(cloud, 'digitalocean') }),
    ...(linode.token !== undefined && { linode: settingsOf(cloud, 'linode') }),
    ...(hetzner.token !== undefined && { hetzner: settingsOf(cloud, 'hetzner') }),
    ...(local.enabled && { local }),
  }
}

function settingsOf<N extends PaidProvider>(cloud: Cloud, name: N): SettingsOf<N> {
  const group = Object.entries(cloud[name]).map(([key, value]: [string, unknown]) => [
    key,
    value instanceof Secret ? value.reveal() : value,
  ])
  return { ...Object.fromEntries(group), prices: pricesOf(cloud, name) } as SettingsOf<N>
}

/** `cloud.prices` has entries of the form `provider:type=dollars`. */
const pricesOf = ({ prices }: Cloud, name: PaidProvider): Readonly<Record<string, number>> =>
  Object.fromEntries(
    prices
      .filter((price) => price.startsWith(`${name}:`))
      .map((price) => {
        const [type = '', dollars] = price.slice(name.length + 1).split('=')
        return [type, Number(dollars)]
      }),
  )
