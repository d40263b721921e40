import type { ComputeManagementClient } from '@azure/arm-compute'
import type { NetworkManagementClient } from '@azure/arm-network'
import { CloudError } from '../../provider.ts'
import { credentialOf } from './credential.ts'
import type { AzureSettings } from './settings.ts'

export interface Clients {
  readonly compute: ComputeManagementClient
  readonly network: NetworkManagementClient
  readonly group: string
}

/** The clients, made when first asked for: the libraries take 120 MB of memory. */
export function openClients(settings: AzureSettings): () => Promise<Clients> {
  let opened: Promise<Clients> | undefined
  return () => {
    opened ??= open(settings)
    return opened
  }
}

async function open(settings: AzureSettings): Promise<Clients> {
  const { endpoint } = settings
  const subscription = wanted(settings, 'subscription')
  const group = wanted(settings, 'resourceGroup')
  const [{ ComputeManagementClient }, { NetworkManagementClient }, credential] = await Promise.all([
    import('@azure/arm-compute'),
    import('@azure/arm-network'),
    credentialOf(settings),
  ])
  const options = {
    // Repetition is the caller's: it knows what is safe to repeat, and for how long.
    retryOptions: { maxRetries: 0 },
    ...(endpoint !== undefined && {
      endpoint,
      credentials: { scopes: [`${endpoint.replace(/\/+$/, '')}/.default`] },
    }),
  }
  return {
    compute: new ComputeManagementClient(credential, subscription, options),
    network: new NetworkManagementClient(credential, subscription, options),
    group,
  }
}

export function wanted(settings: AzureSettings, name: 'subscription' | 'resourceGroup' | 'subnet'): string {
  const value = settings[name]
  if (value !== undefined) return value
  throw new CloudError('credentials', `azure wants ${name} in the settings`)
}
