import { AppError, type CreateRuns } from '@scanfarm/contracts'
import type { CloudChoice, CloudFields } from '@scanfarm/store'
import { budgetOf } from '../cloud/budget.ts'
import { draftInfra, type CloudContext } from '../cloud/draft-infra.ts'

export const noInfra = (id: string): AppError =>
  new AppError('not_found', `there is no infrastructure ${JSON.stringify(id)}`)

/** Those that the caller gave; copies of the job are asked for with the same. */
export const cloudFields = (body: CreateRuns): CloudFields => ({
  cloud_provider: body.cloud_provider,
  cloud_instances: body.cloud_instances,
  cloud_instance_type: body.cloud_instance_type,
  cloud_region: body.cloud_region,
  cloud_auto_destroy: body.cloud_auto_destroy,
  cloud_reuse_infra: body.cloud_reuse_infra,
  cloud_use_spot: body.cloud_use_spot,
})

/**
 * Machines for a job: new ones with these programs, or those of infrastructure that is there, of which the store knows
 * whether it takes runs. Refuses what no machine can be had for; nothing has been made by then.
 */
export async function planCloud(
  context: CloudContext,
  fields: CloudFields,
  tools: readonly string[],
): Promise<CloudChoice> {
  const { cloud_reuse_infra: reuse } = fields
  if (reuse !== undefined) return { reuse }
  const infra = await draftInfra(
    context,
    {
      provider: fields.cloud_provider,
      instances: fields.cloud_instances,
      instanceType: fields.cloud_instance_type,
      region: fields.cloud_region,
      useSpot: fields.cloud_use_spot,
      autoDestroy: fields.cloud_auto_destroy,
      tools,
    },
    'cloud_',
  )
  return { infra, budget: budgetOf(context.config.cloud) }
}
