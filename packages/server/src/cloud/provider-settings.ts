import type { ProviderSettings } from '@scanfarm/cloud'
import type { CloudProviderName } from '@scanfarm/contracts'
import type { Config } from '@scanfarm/platform'

type Cloud = Config['cloud']

/** Those that the settings say enough of to try them. */
export const providerSettings = (cloud: Cloud): ProviderSettings => ({
  ...awsSettings(cloud),
  ...gcpSettings(cloud),
  ...azureSettings(cloud),
  ...digitalOceanSettings(cloud),
  ...linodeSettings(cloud),
  ...hetznerSettings(cloud),
  ...localSettings(cloud),
})

/** The operator's own prices of one provider, by type. */
const pricesOf = ({ prices }: Cloud, name: CloudProviderName): Readonly<Record<string, number>> =>
  Object.fromEntries(
    prices
      .filter((price) => price.startsWith(`${name}:`))
      .map((price) => {
        const [type = '', dollars] = price.slice(name.length + 1).split('=')
        return [type, Number(dollars)]
      }),
  )

/** Without keys of its own, a region says that the machine's usual credentials shall be used. */
const awsSettings = (cloud: Cloud): Pick<ProviderSettings, 'aws'> => {
  const { accessKey, secretKey, ...aws } = cloud.aws
  if (accessKey === undefined && aws.region === undefined) return {}
  return {
    aws: {
      ...aws,
      accessKey: accessKey?.reveal(),
      secretKey: secretKey?.reveal(),
      prices: pricesOf(cloud, 'aws'),
    },
  }
}

/** A key file names its project itself. */
const gcpSettings = (cloud: Cloud): Pick<ProviderSettings, 'gcp'> => {
  const { gcp } = cloud
  if (gcp.project === undefined && gcp.credentialsFile === undefined) return {}
  return { gcp: { ...gcp, prices: pricesOf(cloud, 'gcp') } }
}

const azureSettings = (cloud: Cloud): Pick<ProviderSettings, 'azure'> => {
  const { secret, ...azure } = cloud.azure
  if (azure.subscription === undefined) return {}
  return { azure: { ...azure, secret: secret?.reveal(), prices: pricesOf(cloud, 'azure') } }
}

const digitalOceanSettings = (cloud: Cloud): Pick<ProviderSettings, 'digitalocean'> => {
  const { token, ...digitalocean } = cloud.digitalocean
  if (token === undefined) return {}
  return {
    digitalocean: { ...digitalocean, token: token.reveal(), prices: pricesOf(cloud, 'digitalocean') },
  }
}

const linodeSettings = (cloud: Cloud): Pick<ProviderSettings, 'linode'> => {
  const { token, ...linode } = cloud.linode
  if (token === undefined) return {}
  return { linode: { ...linode, token: token.reveal(), prices: pricesOf(cloud, 'linode') } }
}

const hetznerSettings = (cloud: Cloud): Pick<ProviderSettings, 'hetzner'> => {
  const { token, ...hetzner } = cloud.hetzner
  if (token === undefined) return {}
  return { hetzner: { ...hetzner, token: token.reveal(), prices: pricesOf(cloud, 'hetzner') } }
}

const localSettings = (cloud: Cloud): Pick<ProviderSettings, 'local'> => {
  const { enabled, ...local } = cloud.local
  return enabled ? { local } : {}
}
