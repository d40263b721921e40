import type { CloudProviderName } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import { keptFor } from './providers/kept.ts'
import { CloudError, type CloudProvider, type MachineKind } from './provider.ts'
import type { AwsSettings } from './providers/aws/index.ts'
import type { AzureSettings } from './providers/azure/index.ts'
import type { DigitalOceanSettings } from './providers/digitalocean/index.ts'
import type { GcpSettings } from './providers/gcp/index.ts'
import type { HetznerSettings } from './providers/hetzner/index.ts'
import type { LinodeSettings } from './providers/linode/index.ts'
import type { LocalSettings } from './providers/local/index.ts'

/** Settings of the providers that may be used; what is missing is not configured. */
export interface ProviderSettings {
  readonly aws?: AwsSettings
  readonly gcp?: GcpSettings
  readonly azure?: AzureSettings
  readonly digitalocean?: DigitalOceanSettings
  readonly linode?: LinodeSettings
  readonly hetzner?: HetznerSettings
  readonly local?: LocalSettings
}

export interface CloudProviders extends AsyncDisposable {
  /** In the order of the settings. */
  readonly configured: readonly CloudProviderName[]
  /** Its library is loaded on the first call. Rejects with a `CloudError` (`credentials`) when it is not configured. */
  get(name: CloudProviderName): Promise<CloudProvider>
  /** `check` of the provider; a good answer is believed for a minute. */
  check(name: CloudProviderName, signal: AbortSignal): Promise<void>
  /** US dollars an hour: the operator's own price, else the provider's; undefined: not known. */
  price(name: CloudProviderName, kind: MachineKind, signal: AbortSignal): Promise<number | undefined>
}

const CHECK_KEPT_MS = 60_000

type Makers = Partial<Record<CloudProviderName, () => Promise<CloudProvider>>>

/** Nothing is loaded and nobody is called until a provider is used. */
export function openProviders(settings: ProviderSettings, log: Logger): CloudProviders {
  const prices = Object.fromEntries(
    Object.entries(settings).map(([name, own]) => [name, 'prices' in own ? own.prices : {}]),
  )
  return providersFrom(makersOf(settings), prices, log)
}

/** The same from providers that the caller makes. */
export function providersFrom(
  makers: Makers,
  prices: Readonly<Record<string, Readonly<Record<string, number>>>>,
  log: Logger,
): CloudProviders {
  const opened = new Map<CloudProviderName, Opened>()
  const open = (name: CloudProviderName): Opened => {
    const make = makers[name]
    if (make === undefined)
      throw new CloudError(
        'credentials',
        `the provider ${name} has no credentials in the settings: see cloud.${name}`,
      )
    const known = opened.get(name)
    if (known !== undefined) return known
    const provider = make()
    const checked = keptFor(CHECK_KEPT_MS, async (signal) => (await provider).check(signal))
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
    configured: namesOf(makers),
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

const namesOf = (makers: Makers): CloudProviderName[] => NAMES.filter((name) => makers[name] !== undefined)

function makersOf(settings: ProviderSettings): Makers {
  const { aws, gcp, azure, digitalocean, linode, hetzner, local } = settings
  return {
    aws: aws && (async () => (await import('./providers/aws/index.ts')).createAwsProvider(aws)),
    gcp: gcp && (async () => (await import('./providers/gcp/index.ts')).createGcpProvider(gcp)),
    azure: azure && (async () => (await import('./providers/azure/index.ts')).createAzureProvider(azure)),
    digitalocean:
      digitalocean &&
      (async () =>
        (await import('./providers/digitalocean/index.ts')).createDigitalOceanProvider(digitalocean)),
    linode:
      linode && (async () => (await import('./providers/linode/index.ts')).createLinodeProvider(linode)),
    hetzner:
      hetzner && (async () => (await import('./providers/hetzner/index.ts')).createHetznerProvider(hetzner)),
    local: local && (async () => (await import('./providers/local/index.ts')).createLocalProvider(local)),
  }
}
