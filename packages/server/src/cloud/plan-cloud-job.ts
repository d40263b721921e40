import { budgetOf, draftInfra, type CloudContext } from '@scanfarm/cloud'
import { AppError, TOOL, type CloudFields, type FieldError } from '@scanfarm/contracts'
import type { CloudChoice } from '@scanfarm/store'
import { modulesOf, requirements } from '@scanfarm/engine'
import type { ResolvedWorkflow } from '@scanfarm/language'
import { refuse } from '../http/refusal.ts'
import type { RunnerChoice } from '../submission/runner-choice.ts'

/** Every cloud route and cloud job requires it. */
export const refuseDisabled = (cloudEnabled: boolean): void => {
  if (cloudEnabled) return
  throw new AppError(
    'cloud_disabled',
    'cloud mode requires cloud support to be enabled in the settings: set cloud.enabled to true',
  )
}

/**
 * The machines of a job: a new infrastructure with these programs, or an existing one, which the store checks. Refuses
 * what no provider can supply. Creates nothing.
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

/** The programs in a requirement class. */
export const toolsAmong = (needs: readonly string[]): string[] =>
  needs.filter((word) => word.startsWith(TOOL)).map((word) => word.slice(TOOL.length))

/** The runner of cloud runs is always the machine. Refuses workflows that ask for another one. */
export const machineRunner = (resolved: ResolvedWorkflow): RunnerChoice => {
  const path = `/${resolved.root.kind}`
  const problems: FieldError[] = modulesOf(resolved)
    .filter(({ runner = 'host' }) => runner !== 'host')
    .map(({ name, runner }) => ({
      path,
      message: `${name} wants the runner ${runner}, and cloud runs execute on the machine itself`,
    }))
  if (problems.length === 0 && requirements(resolved, { runner: 'host' }).includes('docker'))
    problems.push({ path, message: 'has steps that run in docker, which machines of a cloud do not offer' })
  refuse(problems)
  return { runnerType: 'host', runnerGiven: true, dockerImage: '', dockerNetwork: '', sshHost: '' }
}
