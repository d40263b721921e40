import { resolveRequest } from '@scanfarm/cloud'
import { closed, CloudProviderName } from '@scanfarm/contracts'
import type { InfraDraft } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { refuse } from '../http/refusal.ts'
import { route } from '../http/route.ts'
import { refuseDisabled } from './plan-cloud-job.ts'
import { InfraRequestBody, REFUSED_FIELDS, requestOf, requestProblems } from './infra-request.ts'

const HOURS_A_DAY = 24
/** Rounds away binary fractions. */
const MILLIONTH = 1e6

const Money = Type.Union([Type.Number(), Type.Null()], { description: 'US dollars; null: not known' })

const money = (amount: number | null): number | null =>
  amount === null ? null : Math.round(amount * MILLIONTH) / MILLIONTH

const Estimate = Type.Object({
  provider: CloudProviderName,
  region: Type.String(),
  instance_type: Type.String(),
  use_spot: Type.Boolean(),
  instance_count: Type.Integer(),
  hours: Type.Integer(),
  hourly_cost: Money,
  daily_cost: Money,
  estimated_cost: Money,
  currency: Type.Literal('USD'),
  breakdown: Type.Array(
    Type.Object({
      resource: Type.String(),
      count: Type.Integer(),
      unit_hourly_cost: Money,
      hourly_cost: Money,
    }),
  ),
  notes: Type.Array(Type.String()),
})

export const estimateCost = route(
  {
    endpoint: 'POST /cloud/estimate',
    summary: 'Estimate the cost of machines',
    description: 'Creates nothing. Traffic, disks and taxes are not included.',
    role: 'viewer',
    body: closed(InfraRequestBody.properties, { $id: 'EstimateCost' }),
    refusedFields: REFUSED_FIELDS,
    rules: requestProblems,
    responses: { 200: Estimate },
    errors: ['cloud_disabled', 'cloud_credentials', 'unavailable'],
  },
  async (context, { body }) => {
    refuseDisabled(context.config.cloud.enabled)
    refuse(requestProblems(body))
    return estimateOf(await resolveRequest(context, requestOf(body), ''))
  },
)

const estimateOf = (draft: InfraDraft): Static<typeof Estimate> => {
  const { provider, region, instanceType, useSpot, instances, hours, hourlyPrice } = draft
  const hourly = hourlyPrice === null ? null : hourlyPrice * instances
  return {
    provider,
    region,
    instance_type: instanceType,
    use_spot: useSpot,
    instance_count: instances,
    hours,
    hourly_cost: money(hourly),
    daily_cost: money(hourly === null ? null : hourly * HOURS_A_DAY),
    estimated_cost: money(hourly === null ? null : hourly * hours),
    currency: 'USD',
    breakdown: [
      {
        resource: instanceType,
        count: instances,
        unit_hourly_cost: money(hourlyPrice),
        hourly_cost: money(hourly),
      },
    ],
    notes: notesOf(useSpot, hourly),
  }
}

const notesOf = (useSpot: boolean, hourly: number | null): string[] => [
  'For the machines only: traffic, disks and taxes are not included.',
  ...(hourly === null ? ['The price is not known: set cloud.prices in the settings.'] : []),
  ...(useSpot ? ['Prices of spot machines change, and the provider may interrupt them.'] : []),
]
