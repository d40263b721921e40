import { AppError, type CloudProviderName } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { CloudProviders } from './open-providers.ts'
import { CloudError, type CloudProvider } from './provider.ts'

/** Of a whole check within a request, retries included. */
const CHECK_TIMEOUT_MS = 45_000
const RETRY_SECONDS = 10

/** The error that the API returns for a refusal of the provider. */
export const toAppError = (error: unknown): AppError => {
  const message = `Cloud provider validation failed: ${error instanceof CloudError ? error.message : errorText(error)}`
  if (error instanceof CloudError && ['credentials', 'refused'].includes(error.problem))
    return new AppError('cloud_credentials', message, { cause: error })
  const afterMs = error instanceof CloudError ? error.retryAfterMs : undefined
  const retryAfter = afterMs === undefined ? RETRY_SECONDS : Math.ceil(afterMs / 1000)
  return new AppError('unavailable', message, { retryAfter, cause: error })
}

const ADVICE: Readonly<Record<CloudProviderName, string>> = {
  aws: 'set cloud.aws.access_key and cloud.aws.secret_key, or aws=REGION in cloud.regions for the usual AWS credentials',
  gcp: 'set cloud.gcp.credentials_file, or cloud.gcp.project for the usual Google credentials',
  azure:
    'set cloud.azure.subscription and resource_group, and azure=NETWORK/SUBNET in cloud.networks; also tenant, client and secret unless the usual Azure credentials are present',
  digitalocean: 'set cloud.digitalocean.token',
  linode: 'set cloud.linode.token',
  hetzner: 'set cloud.hetzner.token',
  local: 'it is for development only: set cloud.local.enabled',
}

export const notConfigured = (name: CloudProviderName): string =>
  `the settings do not configure ${name}: ${ADVICE[name]}`

/** Loads the provider without calling it. Refuses one that the settings do not configure. */
export async function openProvider(
  providers: CloudProviders,
  name: CloudProviderName,
): Promise<CloudProvider> {
  if (!providers.configured.includes(name))
    throw toAppError(new CloudError('credentials', notConfigured(name)))
  try {
    return await providers.get(name)
  } catch (error) {
    throw toAppError(error)
  }
}

/** Refuses with the provider's message unless it accepts the credentials. `fresh`: ignores the cached result. */
export async function checkCredentials(
  providers: CloudProviders,
  name: CloudProviderName,
  { fresh = false } = {},
): Promise<void> {
  const provider = await openProvider(providers, name)
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
  try {
    await (fresh ? provider.check(signal) : providers.check(name, signal))
  } catch (error) {
    throw toAppError(error)
  }
}
