import { AppError, type CloudProviderName } from '@scanfarm/contracts'
import { errorText, type Logger } from '@scanfarm/platform'
import type { Config } from './settings.ts'
import type { CloudBudget, InfraDraft } from '@scanfarm/store'
import { checkCredentials, openProvider, toAppError } from './check-credentials.ts'
import type { CloudProviders } from './open-providers.ts'
import { CloudError, type CloudProvider, type MachineKind } from './provider.ts'

/** The infrastructure that a caller requests. The settings and then the provider supply what is missing. */
export type InfraRequest = Partial<Omit<InfraDraft, 'hourlyPrice' | 'tools'>> & Pick<InfraDraft, 'tools'>

export interface CloudContext {
  readonly providers: CloudProviders
  readonly config: Pick<Config, 'cloud'>
  readonly log: Logger
}

/** Prefix of the field names in the request, for error messages. */
export type FieldPrefix = '' | 'cloud_'

/** Lifetime of machines whose request names none. */
const HOURS = 8
const PRICE_TIMEOUT_MS = 20_000

/** In the settings, 0 means no limit. */
const limited = (bound: number): number | null => (bound === 0 ? null : bound)

export const budgetOf = ({ limits }: Pick<Config['cloud'], 'limits'>): CloudBudget => ({
  instances: limits.maxInstances,
  totalInstances: limits.maxTotalInstances,
  hours: limits.maxHours,
  totalInstanceHours: limited(limits.maxTotalInstanceHours),
  cost: limited(limits.maxCost),
  totalCost: limited(limits.maxTotalCost),
})

/** The provider of requests that name none. */
export const defaultProvider = ({
  providers: { configured },
  config,
}: Omit<CloudContext, 'log'>): CloudProviderName | undefined =>
  config.cloud.provider ?? (configured.length === 1 ? configured[0] : undefined)

/** Like `resolveRequest`; also refuses an infrastructure of unknown cost if the settings limit costs. */
export async function draftInfra(
  context: CloudContext,
  request: InfraRequest,
  prefix: FieldPrefix,
): Promise<InfraDraft> {
  const draft = await resolveRequest(context, request, prefix)
  refuseUnknownCost(budgetOf(context.config.cloud), draft)
  return draft
}

/** Adds all defaults and the price, after the provider has accepted the credentials. Creates nothing. */
export async function resolveRequest(
  context: CloudContext,
  request: InfraRequest,
  prefix: FieldPrefix,
): Promise<InfraDraft> {
  const { providers, config } = context
  const name = request.provider ?? defaultProvider(context) ?? refuseChoice(providers.configured, prefix)
  const provider = await openProvider(providers, name)
  const { defaults } = provider
  refuseRegion(config.cloud, provider, request.region, prefix)
  refuseSpot(name, request, prefix)
  await checkCredentials(providers, name)
  const kind = {
    region: request.region ?? defaults.region,
    type: request.instanceType ?? defaults.type,
    spot: request.useSpot ?? false,
  }
  const hourlyPrice = await priceOf(context, name, kind)
  return {
    provider: name,
    region: kind.region,
    instanceType: kind.type,
    useSpot: kind.spot,
    instances: request.instances ?? 1,
    autoDestroy: request.autoDestroy ?? false,
    hours: request.hours ?? Math.min(HOURS, config.cloud.limits.maxHours),
    hourlyPrice,
    tools: request.tools,
  }
}

const refuseChoice = (configured: readonly CloudProviderName[], prefix: FieldPrefix): never => {
  if (configured.length === 0)
    throw new AppError('cloud_credentials', 'cloud mode needs a cloud provider, and none is configured')
  throw new AppError(
    'invalid_input',
    `name a cloud provider in ${prefix}provider, or set cloud.provider in the settings; configured are ${configured.join(', ')}`,
  )
}

const refuseField = (name: string, message: string): never => {
  throw new AppError('invalid_input', `${name}: ${message}`, { details: [{ path: `/${name}`, message }] })
}

/** AWS lists machines region by region: machines in a region outside of the settings would never be found again. */
const refuseRegion = (
  { regions }: Config['cloud'],
  { name, defaults }: CloudProvider,
  region: string | undefined,
  prefix: FieldPrefix,
): void => {
  if (name !== 'aws' || region === undefined) return
  if (region === defaults.region || regions.includes(`aws=${region}`)) return
  refuseField(
    `${prefix}region`,
    `is not among the regions in the settings: add aws=${region} to cloud.regions`,
  )
}

const WITHOUT_SPOT: readonly CloudProviderName[] = ['digitalocean', 'hetzner', 'linode']

const refuseSpot = (
  name: CloudProviderName,
  { useSpot = false }: InfraRequest,
  prefix: FieldPrefix,
): void => {
  if (useSpot && WITHOUT_SPOT.includes(name))
    refuseField(`${prefix}use_spot`, `is not supported by ${name}, which has no spot machines`)
}

/** A price that cannot be read counts as unknown. */
const priceOf = async (
  { providers, log }: CloudContext,
  name: CloudProviderName,
  kind: MachineKind,
): Promise<number | null> => {
  try {
    return (await providers.price(name, kind, AbortSignal.timeout(PRICE_TIMEOUT_MS))) ?? null
  } catch (error) {
    if (error instanceof CloudError && error.problem === 'credentials') throw toAppError(error)
    log.warn('the price of a machine cannot be read', { provider: name, reason: errorText(error) })
    return null
  }
}

const refuseUnknownCost = ({ cost, totalCost }: CloudBudget, draft: InfraDraft): void => {
  const { provider, region, instanceType, hourlyPrice } = draft
  if (hourlyPrice !== null || (cost === null && totalCost === null)) return
  throw new AppError(
    'cloud_limit',
    `costs are limited, and the price of ${instanceType} at ${provider} in ${region} is not known: add ${provider}:${instanceType}=DOLLARS (an hour) to cloud.prices in the settings`,
  )
}
