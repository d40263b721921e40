import type { TokenCredential, TokenCredentialOptions } from '@azure/identity'
import { errorText } from '@scanfarm/platform'
import { CloudError } from '../../provider.ts'
import { problemOfStatus } from '../calls.ts'
import type { AzureSettings } from './settings.ts'

/** Rejects with a `CloudError`: `unavailable` where nobody was reached who could say whether the credentials are good. */
export async function credentialOf(settings: AzureSettings): Promise<TokenCredential> {
  const { tenant, client, secret, authority } = settings
  const { ClientSecretCredential, DefaultAzureCredential } = await import('@azure/identity')
  const traffic = watchedTraffic()
  const options = {
    retryOptions: { maxRetries: 0 },
    additionalPolicies: [{ policy: traffic.policy, position: 'perRetry' as const }],
    // An authority of one's own is not in Microsoft's list of them, which would be asked for otherwise.
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
        const words = errorText(error)
        throw traffic.lastWasAnswered()
          ? new CloudError('credentials', `the credentials for azure are no good: ${words}`)
          : new CloudError('unavailable', `the authority of azure cannot be reached: ${words}`)
      }
    },
  }
}

type Policy = NonNullable<TokenCredentialOptions['additionalPolicies']>[number]['policy']

/** What the identity library says does not tell a tenant that there is not from a network that there is not. */
function watchedTraffic(): { policy: Policy; lastWasAnswered: () => boolean } {
  let answered = true
  return {
    policy: {
      name: 'watch whether the authority answers',
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
