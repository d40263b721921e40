import type { ComputeManagementClient } from '@azure/arm-compute'
import type { NetworkManagementClient } from '@azure/arm-network'
import type { TokenCredential, TokenCredentialOptions } from '@azure/identity'
import { errorText } from '@scanfarm/platform'
import { CloudError } from '../../provider.ts'
import { problemOfStatus } from '../errors.ts'
import type { AzureSettings } from '../settings.ts'
import { loadSdk } from '../sdk.ts'

export interface Clients {
  readonly compute: ComputeManagementClient
  readonly network: NetworkManagementClient
  readonly group: string
}

/** The libraries take 120 MB of memory and are loaded on first use. */
export function openClients(settings: AzureSettings): () => Promise<Clients> {
  let opened: Promise<Clients> | undefined
  return () => {
    opened ??= open(settings)
    return opened
  }
}

async function open(settings: AzureSettings): Promise<Clients> {
  const { endpoint } = settings
  const subscription = required(settings, 'subscription')
  const group = required(settings, 'resourceGroup')
  const [{ ComputeManagementClient }, { NetworkManagementClient }, credential] = await loadSdk(
    'azure',
    async () =>
      await Promise.all([import('@azure/arm-compute'), import('@azure/arm-network'), credentialOf(settings)]),
  )
  const options = {
    // Callers retry: they know which calls are safe to repeat, and for how long.
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

export function required(settings: AzureSettings, name: 'subscription' | 'resourceGroup' | 'subnet'): string {
  const value = settings[name]
  if (value !== undefined) return value
  throw new CloudError('credentials', `azure wants ${name} in the settings`)
}

/** Rejects with `unavailable` instead of `credentials` when the authority that checks them did not respond. */
async function credentialOf(settings: AzureSettings): Promise<TokenCredential> {
  const { tenant, client, secret, authority } = settings
  const { ClientSecretCredential, DefaultAzureCredential } = await loadSdk(
    'azure',
    async () => await import('@azure/identity'),
  )
  const traffic = observeTraffic()
  const options = {
    retryOptions: { maxRetries: 0 },
    additionalPolicies: [{ policy: traffic.policy, position: 'perRetry' as const }],
    // Instance discovery only knows Microsoft's own authorities.
    ...(authority !== undefined && { authorityHost: authority, disableInstanceDiscovery: true }),
  }
  const given = [tenant, client, secret].filter((part) => part !== undefined).length
  if (given !== 0 && given !== 3)
    throw new CloudError(
      'credentials',
      'azure wants tenant, client and secret in the settings, or none of them',
    )
  const credential =
    tenant !== undefined && client !== undefined && secret !== undefined
      ? new ClientSecretCredential(tenant, client, secret, options)
      : new DefaultAzureCredential(options)
  return {
    async getToken(scopes, how) {
      try {
        return await credential.getToken(scopes, how)
      } catch (error) {
        const reason = errorText(error)
        throw traffic.lastWasAnswered()
          ? new CloudError('credentials', `the credentials for azure are not valid: ${reason}`)
          : new CloudError('unavailable', `the authority of azure cannot be reached: ${reason}`)
      }
    },
  }
}

type Policy = NonNullable<TokenCredentialOptions['additionalPolicies']>[number]['policy']

/** The errors of the identity library do not distinguish an unknown tenant from an unreachable network. */
function observeTraffic(): { policy: Policy; lastWasAnswered: () => boolean } {
  let answered = true
  return {
    policy: {
      name: 'observe whether the authority responds',
      async sendRequest(request, next) {
        answered = false
        const answer = await next(request)
        answered = problemOfStatus(answer.status) !== 'unavailable'
        return answer
      },
    },
    lastWasAnswered: () => answered,
  }
}
