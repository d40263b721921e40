import {
  allOrNone,
  amount,
  checked,
  choice,
  flag,
  integer,
  list,
  path,
  secret,
  text,
  type ConfigOf,
  type Lookup,
} from '@scanfarm/platform'

const PAID = ['aws', 'gcp', 'azure', 'digitalocean', 'linode', 'hetzner'] as const

const place = {
  region: text('Where machines are created unless a request names a region. Not set: see docs/cloud.md.'),
  type: text('Type of machines unless a request names one. Not set: a small type.'),
}
const image = text('Image of machines, which must have cloud-init. Not set: a current Debian or Ubuntu.')
const endpoint = text("URL of the provider's API. Not set: the public API.")
const privateAddress = flag(
  'Connect to machines at their private addresses. For servers in the same network.',
  {
    default: false,
  },
)
/** 0 stands for none. */
const bound = { default: 0, min: 0 }

const cloud = {
  enabled: flag('Allow cloud runs.', { default: false }),
  provider: choice(
    'Provider for requests that name none. Not set: the only provider with credentials in the settings.',
    { of: [...PAID, 'local'] },
  ),
  slots: integer('Cloud runs that a server executes at the same time. 0: none.', {
    default: 32,
    min: 0,
    max: 1024,
  }),
  bootMinutes: integer('A machine that is not ready after this time is destroyed.', {
    default: 10,
    min: 1,
    max: 120,
  }),
  hours: integer('Machines are always destroyed after this time, unless a request names a shorter one.', {
    default: 8,
    min: 1,
    max: 8760,
  }),
  limits: {
    maxInstances: integer('Maximum number of machines of one infrastructure.', {
      default: 10,
      min: 1,
      max: 10_000,
    }),
    maxTotalInstances: integer('Maximum number of machines of the farm at the same time.', {
      default: 20,
      min: 1,
      max: 100_000,
    }),
    maxHours: integer('Longest lifetime of an infrastructure.', { default: 24, min: 1, max: 8760 }),
    maxTotalInstanceHours: integer(
      'Maximum sum of hours of all machines of the farm, each counted to the end of its lifetime. 0: no limit.',
      { ...bound, max: 10_000_000 },
    ),
    maxCost: amount('Maximum estimated cost of one infrastructure, in US dollars. 0: no limit.', bound),
    maxTotalCost: amount(
      'Maximum estimated cost of all machines of the farm that are not destroyed, in US dollars. 0: no limit.',
      bound,
    ),
  },
  prices: list(
    'Your own prices, as `provider:type=dollars per hour` for one machine. They take precedence over those of the provider.',
    {
      default: [],
      item: new RegExp(`^(${PAID.join('|')}):[^\\s:=]{1,128}=\\d{1,6}(\\.\\d{1,8})?$`),
      itemText: 'prices of the form provider:type=0.05',
    },
  ),
  setup: list('Shell commands that every machine executes as root when it starts, before it accepts runs.', {
    default: [],
  }),
  aws: checked(
    {
      accessKey: secret(
        'Access key id. Not set: the default AWS credential chain, if `cloud.aws.region` is set.',
      ),
      secretKey: secret('Secret key that belongs to the access key id.'),
      ...place,
      regions: list('Additional regions that requests may name.', { default: [] }),
      image,
      subnet: text('Subnet. Not set: the default subnet of the region.'),
      securityGroups: list('Security groups, which must allow the servers to connect to port 22.', {
        default: [],
      }),
      endpoint,
      privateAddress,
    },
    allOrNone('cloud.aws.access_key', 'cloud.aws.secret_key'),
  ),
  gcp: {
    credentialsFile: text('JSON key file of a service account. Not set: the default Google credentials.', {
      secretFile: true,
    }),
    project: text('Project of the machines. Not set: the project of the credentials.'),
    zone: text('Where machines are created unless a request names a zone, for example europe-west1-b.'),
    zones: list('Zones in which machines are created if a request names their region.', { default: [] }),
    type: place.type,
    image,
    network: text('Network. Not set: the default network.'),
    endpoint,
    privateAddress,
  },
  azure: checked(
    {
      tenant: text(
        'Tenant (directory) id. Without tenant, client and secret: the default Azure credentials.',
      ),
      client: text('Client (application) id.'),
      secret: secret('Client secret.'),
      subscription: text('Subscription id.'),
      resourceGroup: text('Resource group of all resources. It must exist.'),
      ...place,
      image,
      subnet: text('Subnet of the machines, as `network/subnet` or its id. It must allow ssh.'),
      endpoint,
      authority: text('URL that issues tokens. Not set: the public one.'),
      privateAddress,
    },
    (value) => [
      ...allOrNone('cloud.azure.tenant', 'cloud.azure.client', 'cloud.azure.secret')(value),
      ...allOrNone('cloud.azure.subscription', 'cloud.azure.resource_group', 'cloud.azure.subnet')(value),
    ],
  ),
  digitalocean: {
    token: secret('API token.'),
    ...place,
    image,
    vpc: text('Id of the VPC. Not set: the default VPC of the region.'),
    endpoint,
    privateAddress,
  },
  linode: { token: secret('Personal access token.'), ...place, image, endpoint },
  hetzner: {
    token: secret('API token of the project.'),
    ...place,
    image,
    network: text('Id of a private network that machines also join.'),
    endpoint,
    privateAddress,
  },
  local: {
    enabled: flag(
      'Offer the provider `local`, whose machines are containers on this machine. For development and tests.',
      {
        default: false,
      },
    ),
    dockerSocket: path('Socket of the docker engine that runs these containers.', {
      default: (lookup: Lookup) => String(lookup('runner.docker_socket')),
      defaultText: '`runner.docker_socket`',
    }),
    image: text('Image of these containers. Not set: an image that is built on first use.'),
  },
}

export const cloudSettings = {
  cloud: checked(cloud, (value) => [
    ...(Number(value('cloud.hours')) > Number(value('cloud.limits.max_hours'))
      ? [
          `cloud.hours must not be more than cloud.limits.max_hours: ${String(value('cloud.hours'))} is more than ${String(value('cloud.limits.max_hours'))}`,
        ]
      : []),
    ...(value('cloud.provider') === 'local' && value('cloud.local.enabled') !== true
      ? ['cloud.provider is local, which is for development: set cloud.local.enabled to true too']
      : []),
  ]),
}

export type Config = ConfigOf<typeof cloudSettings>
