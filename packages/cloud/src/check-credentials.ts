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
  aws: 'add aws=KEY_ID:SECRET to cloud.credentials, or aws=REGION to cloud.regions for the usual AWS credentials',
  gcp: 'add gcp=@FILE to cloud.credentials, or gcp=PROJECT to cloud.projects for the usual Google credentials',
  azure:
    'add azure=SUBSCRIPTION/RESOURCE_GROUP to cloud.projects and azure=NETWORK/SUBNET to cloud.networks; also azure=TENANT:CLIENT:SECRET to cloud.credentials unless the usual Azure credentials are present',
  digitalocean: 'add digitalocean=TOKEN to cloud.credentials',
  linode: 'add linode=TOKEN to cloud.credentials',
  hetzner: 'add hetzner=TOKEN to cloud.credentials',
  local: 'it is for development only: add local=/var/run/docker.sock to cloud.endpoints',
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
