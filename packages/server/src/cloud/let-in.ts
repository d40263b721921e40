import { CloudError, type CloudProvider, type CloudProviders } from '@scanfarm/cloud'
import { AppError, type CloudProviderName } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'

/** Longest wait for a provider within a request, repeated calls included. */
const ANSWER_MS = 45_000
const RETRY_SECONDS = 10

/** What a provider's refusal is for a caller. */
export const asRefusal = (error: unknown): AppError => {
  const message = `Cloud provider validation failed: ${error instanceof CloudError ? error.message : errorText(error)}`
  if (error instanceof CloudError && ['credentials', 'refused'].includes(error.problem))
    return new AppError('cloud_credentials', message, { cause: error })
  return new AppError('unavailable', message, { retryAfter: retrySeconds(error), cause: error })
}

const retrySeconds = (error: unknown): number =>
  error instanceof CloudError && error.retryAfterMs !== undefined
    ? Math.ceil(error.retryAfterMs / 1000)
    : RETRY_SECONDS

const ADVICE: Readonly<Record<CloudProviderName, string>> = {
  aws: 'set cloud.aws.access_key and cloud.aws.secret_key, or cloud.aws.region for the usual AWS credentials',
  gcp: 'set cloud.gcp.credentials_file, or cloud.gcp.project for the usual Google credentials',
  azure:
    'set cloud.azure.subscription, resource_group and subnet, and tenant, client and secret unless the usual Azure credentials are there',
  digitalocean: 'set cloud.digitalocean.token',
  linode: 'set cloud.linode.token',
  hetzner: 'set cloud.hetzner.token',
  local: 'it is for development only: set cloud.local.enabled',
}

export const notConfigured = (name: CloudProviderName): string =>
  `the settings do not configure ${name}: ${ADVICE[name]}`

/** The provider, not yet asked for anything. Refused where the settings say too little of it. */
export async function openProvider(
  providers: CloudProviders,
  name: CloudProviderName,
): Promise<CloudProvider> {
  if (!providers.configured.includes(name))
    throw asRefusal(new CloudError('credentials', notConfigured(name)))
  try {
    return await providers.get(name)
  } catch (error) {
    throw asRefusal(error)
  }
}

/**
 * Resolves when the provider lets us in: it has said so within the last minute, or says so now. Refuses with its own
 * words. `anew`: whatever it said before.
 */
export async function letIn(
  providers: CloudProviders,
  name: CloudProviderName,
  { anew = false } = {},
): Promise<void> {
  const provider = await openProvider(providers, name)
  const signal = AbortSignal.timeout(ANSWER_MS)
  try {
    await (anew ? provider.check(signal) : providers.check(name, signal))
  } catch (error) {
    throw asRefusal(error)
  }
}
