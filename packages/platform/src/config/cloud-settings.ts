import type { Lookup } from './setting.ts'
import { amount, flag, integer, list, optionalChoice, optionalText, path, secret } from './setting.ts'

const PAID = ['aws', 'gcp', 'azure', 'digitalocean', 'linode', 'hetzner'] as const

const place = {
  region: optionalText(
    'Where machines are made unless a request says otherwise; none: as docs/cloud.md says.',
  ),
  type: optionalText('Type of machine unless a request says otherwise; none: a small one.'),
}
const image = optionalText(
  'Image that machines start from; it needs cloud-init. None: a current Debian or Ubuntu.',
)
const endpoint = optionalText("URL of the provider's API; none: the provider's own.")
const privateAddress = flag('Reach machines at their private addresses: for servers in the same network.', {
  default: false,
})
/** 0 stands for none. */
const bound = { default: 0, min: 0 }

/** The group `cloud`. */
export const CLOUD_SETTINGS = {
  enabled: flag('Allow cloud runs.', { default: false }),
  provider: optionalChoice(
    'Provider where a request names none; none: the only one that the settings give credentials for.',
    { of: [...PAID, 'local'] },
  ),
  slots: integer('Cloud runs that a server looks after at once; 0: none.', {
    default: 32,
    min: 0,
    max: 1024,
  }),
  bootMinutes: integer('A machine that is not ready after this long is given up.', {
    default: 10,
    min: 1,
    max: 120,
  }),
  hours: integer('Machines are destroyed after this long whatever happens, unless a request says less.', {
    default: 8,
    min: 1,
    max: 8760,
  }),
  limits: {
    maxInstances: integer('Most machines of one infrastructure.', { default: 10, min: 1, max: 10_000 }),
    maxTotalInstances: integer('Most machines at the same time in the whole farm.', {
      default: 20,
      min: 1,
      max: 100_000,
    }),
    maxHours: integer('Longest life of an infrastructure.', { default: 24, min: 1, max: 8760 }),
    maxTotalInstanceHours: integer(
      'Most hours of all machines of the farm together, each counted up to the end of its time; 0: no limit.',
      { ...bound, max: 10_000_000 },
    ),
    maxCost: amount('Highest estimated cost of one infrastructure, in US dollars; 0: no limit.', bound),
    maxTotalCost: amount(
      'Highest estimated cost of all machines of the farm that are not destroyed, in US dollars; 0: no limit.',
      bound,
    ),
  },
  prices: list(
    'Your own prices, as `provider:type=dollars an hour` for one machine; they win over what a provider says.',
    {
      default: [],
      item: new RegExp(`^(${PAID.join('|')}):[^\\s:=]{1,128}=\\d{1,6}(\\.\\d{1,8})?$`),
      itemText: 'prices of the form provider:type=0.05',
    },
  ),
  setup: list('Shell commands that every machine runs as root when it starts, before it takes runs.', {
    default: [],
  }),
  aws: {
    accessKey: secret(
      'Access key id; none: the usual AWS credential chain, where `cloud.aws.region` is set.',
    ),
    secretKey: secret('Secret key that belongs to the access key id.'),
    ...place,
    regions: list('Regions that requests may name besides.', { default: [] }),
    image,
    subnet: optionalText('Subnet; none: the default one of the region.'),
    securityGroups: list('Security groups, which must let the servers in at port 22.', { default: [] }),
    endpoint,
    privateAddress,
  },
  gcp: {
    credentialsFile: optionalText('JSON key file of a service account; none: the usual Google credentials.', {
      secretFile: true,
    }),
    project: optionalText('Project that machines belong to; none: that of the credentials.'),
    zone: optionalText('Where machines are made unless a request says otherwise, such as europe-west1-b.'),
    zones: list('Zones that machines are made in where a request names their region.', { default: [] }),
    type: place.type,
    image,
    network: optionalText('Network; none: the default one.'),
    endpoint,
    privateAddress,
  },
  azure: {
    tenant: optionalText(
      'Tenant (directory) id; without tenant, client and secret: the usual Azure credentials.',
    ),
    client: optionalText('Client (application) id.'),
    secret: secret('Client secret.'),
    subscription: optionalText('Subscription id.'),
    resourceGroup: optionalText('Resource group that everything is made in; it must exist.'),
    ...place,
    image,
    subnet: optionalText('Subnet that machines join, as `network/subnet` or its id; ssh must be let in.'),
    endpoint,
    authority: optionalText('URL that tokens come from; none: the public one.'),
    privateAddress,
  },
  digitalocean: {
    token: secret('API token.'),
    ...place,
    image,
    vpc: optionalText('Id of the VPC; none: the default one of the region.'),
    endpoint,
    privateAddress,
  },
  linode: { token: secret('Personal access token.'), ...place, image, endpoint },
  hetzner: {
    token: secret('API token of the project.'),
    ...place,
    image,
    network: optionalText('Id of a private network that machines join too.'),
    endpoint,
    privateAddress,
  },
  local: {
    enabled: flag('Offer `local`, whose machines are containers here: for development and tests.', {
      default: false,
    }),
    dockerSocket: path('Socket of the docker engine that makes them.', {
      default: (lookup: Lookup) => String(lookup('runner.docker_socket')),
      defaultText: '`runner.docker_socket`',
    }),
    image: optionalText('Image of these containers; none: one that is built on first use.'),
  },
} as const
