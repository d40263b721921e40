import { checkCredentials, defaultProvider, notConfigured, type CloudProviders } from '@scanfarm/cloud'
import { AppError, CloudProviderName } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../http/route.ts'
import { refuseDisabled } from './plan-cloud-job.ts'

/** `local` is only shown when it is enabled. */
const NAMES: readonly CloudProviderName[] = ['aws', 'azure', 'digitalocean', 'gcp', 'hetzner', 'linode']

const shownNames = ({ configured }: CloudProviders): CloudProviderName[] =>
  [...new Set([...NAMES, ...configured])].sort()

/** Why the provider does not accept the credentials, or "". */
const problemOf = async (
  providers: CloudProviders,
  name: CloudProviderName,
  fresh: boolean,
): Promise<string> => {
  try {
    await checkCredentials(providers, name, { fresh })
    return ''
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

const Provider = Type.Object({
  name: CloudProviderName,
  is_default: Type.Boolean(),
  configured: Type.Boolean(),
  status: Type.Enum(['valid', 'invalid', 'not_configured']),
  message: Type.Optional(Type.String()),
})

export const listProviders = route(
  {
    endpoint: 'GET /cloud/providers',
    summary: 'List the cloud providers, and whether they accept the credentials',
    role: 'viewer',
    responses: {
      200: Type.Object({
        providers: Type.Array(Provider),
        default_provider: Type.String({ description: 'The provider of requests that name none, or ""' }),
      }),
    },
    errors: ['cloud_disabled'],
  },
  async ({ providers, config }) => {
    refuseDisabled(config.cloud.enabled)
    const chosen = defaultProvider({ providers, config })
    const shown = await Promise.all(
      shownNames(providers).map(async (name) => {
        const base = { name, is_default: name === chosen }
        if (!providers.configured.includes(name))
          return {
            ...base,
            configured: false,
            status: 'not_configured' as const,
            message: notConfigured(name),
          }
        const problem = await problemOf(providers, name, false)
        return problem === ''
          ? { ...base, configured: true, status: 'valid' as const }
          : { ...base, configured: true, status: 'invalid' as const, message: problem }
      }),
    )
    return { providers: shown, default_provider: chosen ?? '' }
  },
)

export const validateProvider = route(
  {
    endpoint: 'POST /cloud/providers/{name}/validate',
    summary: 'Check the credentials of a cloud provider now',
    role: 'operator',
    responses: {
      200: Type.Object({ provider: CloudProviderName, valid: Type.Boolean(), message: Type.String() }),
    },
    errors: ['cloud_disabled'],
  },
  async ({ providers, config }, { params }) => {
    refuseDisabled(config.cloud.enabled)
    const name = shownNames(providers).find((one) => one === params.name)
    if (name === undefined)
      throw new AppError('not_found', `there is no cloud provider ${JSON.stringify(params.name)}`)
    const problem = await problemOf(providers, name, true)
    return { provider: name, valid: problem === '', message: problem || `${name} accepts the credentials` }
  },
)
