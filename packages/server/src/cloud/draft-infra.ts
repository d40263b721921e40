import { CloudError, type CloudProvider, type CloudProviders, type MachineKind } from '@scanfarm/cloud'
import { AppError, type CloudProviderName, type FieldError } from '@scanfarm/contracts'
import { errorText, type Config, type Logger } from '@scanfarm/platform'
import type { CloudBudget, InfraDraft } from '@scanfarm/store'
import { refuse } from '../http/field-refusal.ts'
import { budgetOf, limitsCosts } from './budget.ts'
import { asRefusal, letIn, openProvider } from './let-in.ts'

/** What a caller asks for; what is missing comes from the settings, and then from the provider. */
export interface InfraWish {
  readonly provider?: CloudProviderName | undefined
  readonly instances?: number | undefined
  readonly instanceType?: string | undefined
  readonly region?: string | undefined
  readonly useSpot?: boolean | undefined
  readonly autoDestroy?: boolean | undefined
  readonly hours?: number | undefined
  readonly tools: readonly string[]
}

export interface CloudContext {
  readonly providers: CloudProviders
  readonly config: Pick<Config, 'cloud'>
  readonly log: Logger
}

/** What the request's fields are called, for its refusals. */
export type FieldPrefix = '' | 'cloud_'

const PRICE_MS = 20_000

/** The provider where a request names none. */
export const defaultProvider = ({
  providers: { configured },
  config,
}: Omit<CloudContext, 'log'>): CloudProviderName | undefined =>
  config.cloud.provider ?? (configured.length === 1 ? configured[0] : undefined)

/** As `resolveWish`, for machines that shall be made: refused where costs are limited and not known. */
export async function draftInfra(
  context: CloudContext,
  wish: InfraWish,
  prefix: FieldPrefix,
): Promise<InfraDraft> {
  const draft = await resolveWish(context, wish, prefix)
  refuseUnknownCost(budgetOf(context.config.cloud), draft)
  return draft
}

/** The wish with all defaults and the price, from a provider that lets us in. Nothing has been made when it refuses. */
export async function resolveWish(
  context: CloudContext,
  wish: InfraWish,
  prefix: FieldPrefix,
): Promise<InfraDraft> {
  const { providers, config } = context
  const name = wish.provider ?? defaultProvider(context) ?? refuseChoice(providers.configured, prefix)
  const provider = await openProvider(providers, name)
  const { defaults } = provider
  refuse([
    ...regionProblems(config.cloud, provider, wish.region, prefix),
    ...spotProblems(name, wish, prefix),
  ])
  await letIn(providers, name)
  const kind = {
    region: wish.region ?? defaults.region,
    type: wish.instanceType ?? defaults.type,
    spot: wish.useSpot ?? false,
  }
  const hourlyPrice = await priceOf(context, name, kind)
  return {
    provider: name,
    region: kind.region,
    instanceType: kind.type,
    useSpot: kind.spot,
    instances: wish.instances ?? 1,
    autoDestroy: wish.autoDestroy ?? false,
    hours: wish.hours ?? config.cloud.hours,
    hourlyPrice,
    tools: wish.tools,
  }
}

const refuseChoice = (configured: readonly CloudProviderName[], prefix: FieldPrefix): never => {
  if (configured.length === 0)
    throw new AppError('cloud_credentials', 'cloud mode needs a cloud provider, and none is configured')
  throw new AppError(
    'invalid_input',
    `name a cloud provider in ${prefix}provider, or a default one in the settings (cloud.provider): there are ${configured.join(', ')}`,
  )
}

/** AWS is asked region by region: machines that nobody looks for would never be found again. */
const regionProblems = (
  { aws }: Config['cloud'],
  { name, defaults }: CloudProvider,
  region: string | undefined,
  prefix: FieldPrefix,
): FieldError[] => {
  if (name !== 'aws' || region === undefined) return []
  if (region === defaults.region || aws.regions.includes(region)) return []
  const message = `is not among those that the settings allow: add ${region} to cloud.aws.regions`
  return [{ path: `/${prefix}region`, message }]
}

const WITHOUT_SPOT: readonly CloudProviderName[] = ['digitalocean', 'hetzner', 'linode']

const spotProblems = (
  name: CloudProviderName,
  { useSpot = false }: InfraWish,
  prefix: FieldPrefix,
): FieldError[] =>
  useSpot && WITHOUT_SPOT.includes(name)
    ? [{ path: `/${prefix}use_spot`, message: `is not to be had at ${name}, which has no spot machines` }]
    : []

/** A price that cannot be had now is an unknown one; only where costs are limited it is missed. */
const priceOf = async (
  { providers, log }: CloudContext,
  name: CloudProviderName,
  kind: MachineKind,
): Promise<number | null> => {
  try {
    return (await providers.price(name, kind, AbortSignal.timeout(PRICE_MS))) ?? null
  } catch (error) {
    if (error instanceof CloudError && error.problem === 'credentials') throw asRefusal(error)
    log.warn('a cloud provider did not tell a price', { provider: name, reason: errorText(error) })
    return null
  }
}

const refuseUnknownCost = (budget: CloudBudget, draft: InfraDraft): void => {
  const { provider, region, instanceType, hourlyPrice } = draft
  if (hourlyPrice !== null || !limitsCosts(budget)) return
  throw new AppError(
    'cloud_limit',
    `costs are limited, and the price of ${instanceType} at ${provider} in ${region} is not known: add ${provider}:${instanceType}=DOLLARS (an hour) to cloud.prices in the settings`,
  )
}
