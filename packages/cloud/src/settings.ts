import { closest } from '@scanfarm/contracts'
import {
  amount,
  checked,
  choice,
  flag,
  integer,
  list,
  variables,
  type ConfigOf,
  type Lookup,
  type Variable,
} from '@scanfarm/platform'

const PAID = ['aws', 'gcp', 'azure', 'digitalocean', 'linode', 'hetzner'] as const
const ALL = [...PAID, 'local']

/** 0 stands for none. */
const bound = { default: 0, min: 0 }

/** A list of `provider=value`. */
const byProvider = (description: string) =>
  list(`${description} As \`provider=value\`.`, {
    default: [],
    item: new RegExp(`^(${ALL.join('|')}|azure-login)=.+$`),
    itemText: 'entries of the form provider=value',
  })

/** The values of a provider, in the order of the list. */
export const valuesOf = (entries: readonly string[], provider: string): string[] =>
  entries.filter((entry) => entry.startsWith(`${provider}=`)).map((entry) => entry.slice(provider.length + 1))

/** Only the lists of regions and networks may have several entries of a provider. */
const repeated =
  (...keys: readonly string[]) =>
  (value: Lookup): string[] =>
    keys.flatMap((key) => {
      const names = (value(key) as readonly string[]).map((entry) => entry.slice(0, entry.indexOf('=')))
      return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].map(
        (name) => `${key} has several entries for ${name}: keep one`,
      )
    })

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
  credentials: variables(
    'Credentials by provider: `aws: KEY_ID:SECRET`, `azure: TENANT:CLIENT:SECRET`, `gcp: {file: PATH}` (JSON key file of a service account), and the API tokens of `digitalocean`, `hetzner` and `linode`. A value may also be `{file: PATH}`, in a list `provider=@PATH`. Not set: the default credentials of AWS, if `cloud.regions` has a region of it, and of Google and Azure, if they are in `cloud.projects`.',
    {
      refuse: (name) =>
        PAID.some((paid) => paid === name)
          ? undefined
          : `no provider with credentials has this name; did you mean ${closest(name, PAID) ?? PAID.join(', ')}?`,
      mask: 'every',
    },
  ),
  projects: byProvider(
    'Where machines belong: the project of `gcp` (not set: that of the credentials), `SUBSCRIPTION/RESOURCE_GROUP` of `azure` (required; the group must exist).',
  ),
  regions: byProvider(
    'Where machines are created: the first region (Google: zone) of a provider, unless a request names another. AWS creates machines only in these regions.',
  ),
  types: byProvider('Types of machines, unless a request names one. Not set: a small type.'),
  images: byProvider(
    'Images of machines, which must have cloud-init. Not set: a current Debian or Ubuntu; of `local`: an image that is built on first use.',
  ),
  networks: byProvider(
    'Networks of machines: a subnet and security groups at AWS, a network at Google, a `network/subnet` at Azure (required), the id of a VPC at DigitalOcean or of a network at Hetzner.',
  ),
  privateAddresses: list(
    'Providers whose machines are reached at their private addresses. For servers in the same network.',
    { default: [], item: new RegExp(`^(${PAID.join('|')})$`), itemText: 'names of providers' },
  ),
  endpoints: byProvider(
    'URLs of the APIs of providers, for gateways and separate clouds; `azure-login` is the authority that issues tokens. Not set: the public ones. With `local=/var/run/docker.sock`, for development and tests, machines are containers on this machine.',
  ),
}

/** What the credentials of a provider must be, if they are more than a token. */
const FORMS: Readonly<Record<string, readonly [RegExp, string]>> = {
  aws: [/^[^:]+:[^:]+$/, 'aws=KEY_ID:SECRET'],
  azure: [/^[^:]+:[^:]+:.+$/, 'azure=TENANT:CLIENT:SECRET'],
}

const credentialProblems = (given: readonly Variable[]): string[] =>
  given.flatMap(({ name, value, file }) => {
    const [form, text] = FORMS[name] ?? [/./, `${name}=TOKEN`]
    if (name === 'gcp' && file === undefined)
      return ['cloud.credentials must name the key file of gcp: gcp=@PATH']
    return form.test(value?.reveal() ?? '') ? [] : [`cloud.credentials must have ${text}`]
  })

export const cloudSettings = {
  cloud: checked(cloud, (value) => {
    const of = (key: string, provider: string): string | undefined =>
      valuesOf(value(key) as readonly string[], provider)[0]
    const azure = of('cloud.projects', 'azure')
    return [
      ...repeated('cloud.types', 'cloud.images', 'cloud.endpoints', 'cloud.projects')(value),
      ...credentialProblems(value('cloud.credentials') as readonly Variable[]),
      ...(azure !== undefined && !/^[^/]+\/[^/]+$/.test(azure)
        ? ['cloud.projects must have azure=SUBSCRIPTION/RESOURCE_GROUP']
        : []),
      ...(azure !== undefined && of('cloud.networks', 'azure') === undefined
        ? ['cloud.networks must name the subnet of azure: azure=NETWORK/SUBNET']
        : []),
      ...(value('cloud.provider') === 'local' && of('cloud.endpoints', 'local') === undefined
        ? [
            'cloud.provider is local, which is for development: add local=/var/run/docker.sock to cloud.endpoints too',
          ]
        : []),
    ]
  }),
}

export type Config = ConfigOf<typeof cloudSettings>
