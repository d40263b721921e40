import type { CloudProviderName } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import { CloudError, type CloudProvider, type MachineKind } from './provider.ts'
import { cached } from './providers/calls.ts'
import type { ProviderSettings } from './providers/settings.ts'

export interface CloudProviders extends AsyncDisposable {
  /** In the order of the settings. */
  readonly configured: readonly CloudProviderName[]
  /** Loads the provider's library on first use. Rejects with `credentials` when the provider is not configured. */
  get(name: CloudProviderName): Promise<CloudProvider>
  /** Checks the credentials; success is cached for a minute. */
  check(name: CloudProviderName, signal: AbortSignal): Promise<void>
  /** US dollars an hour: the operator's own price, otherwise the provider's; undefined: not known. */
  price(name: CloudProviderName, kind: MachineKind, signal: AbortSignal): Promise<number | undefined>
}

const CHECK_TTL_MS = 60_000

type Factories = Partial<Record<CloudProviderName, () => Promise<CloudProvider>>>

/** Loads and calls nothing until a provider is used. */
export function openProviders(settings: ProviderSettings, log: Logger): CloudProviders {
  const prices = Object.fromEntries(
    Object.entries(settings).map(([name, own]) => [name, 'prices' in own ? own.prices : {}]),
  )
  return providersFrom(factoriesOf(settings), prices, log)
}

/** Like `openProviders`, with providers that the caller creates. */
export function providersFrom(
  factories: Factories,
  prices: Readonly<Record<string, Readonly<Record<string, number>>>>,
  log: Logger,
): CloudProviders {
  const opened = new Map<CloudProviderName, Opened>()
  const open = (name: CloudProviderName): Opened => {
    const make = factories[name]
    if (make === undefined)
      throw new CloudError(
        'credentials',
        `the provider ${name} has no credentials in the settings: see cloud.credentials`,
      )
    const known = opened.get(name)
    if (known !== undefined) return known
    const provider = make()
    const checked = cached(CHECK_TTL_MS, async (signal) => (await provider).check(signal))
    const entry = { provider, check: checked }
    opened.set(name, entry)
    provider.then(
      () => log.info('a cloud provider is in use', { provider: name }),
      // The next call tries again.
      () => opened.delete(name),
    )
    return entry
  }
  return {
    configured: namesOf(factories),
    get: async (name) => await open(name).provider,
    check: async (name, signal) => await open(name).check(signal),
    async price(name, kind, signal) {
      const own = prices[name]?.[kind.type]
      return own ?? (await (await open(name).provider).price(kind, signal))
    },
    async [Symbol.asyncDispose]() {
      const all = await Promise.allSettled([...opened.values()].map(({ provider }) => provider))
      for (const made of all) if (made.status === 'fulfilled') await made.value[Symbol.asyncDispose]()
    },
  }
}

interface Opened {
  readonly provider: Promise<CloudProvider>
  readonly check: (signal: AbortSignal) => Promise<void>
}

const NAMES: readonly CloudProviderName[] = [
  'aws',
  'gcp',
  'azure',
  'digitalocean',
  'linode',
  'hetzner',
  'local',
]

const namesOf = (factories: Factories): CloudProviderName[] =>
  NAMES.filter((name) => factories[name] !== undefined)

function factoriesOf(settings: ProviderSettings): Factories {
  const { aws, gcp, azure, digitalocean, linode, hetzner, local } = settings
  return {
    aws: aws && (async () => (await import('./providers/aws/index.ts')).createAwsProvider(aws)),
    gcp: gcp && (async () => (await import('./providers/gcp/index.ts')).createGcpProvider(gcp)),
    azure: azure && (async () => (await import('./providers/azure/index.ts')).createAzureProvider(azure)),
    digitalocean:
      digitalocean &&
      (async () => (await import('./providers/digitalocean.ts')).createDigitalOceanProvider(digitalocean)),
    linode: linode && (async () => (await import('./providers/linode.ts')).createLinodeProvider(linode)),
    hetzner: hetzner && (async () => (await import('./providers/hetzner.ts')).createHetznerProvider(hetzner)),
    local: local && (async () => (await import('./providers/local/index.ts')).createLocalProvider(local)),
  }
}
