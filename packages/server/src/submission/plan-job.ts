import { AppError, classOf, type CreateRuns, type Priority, type RunMode } from '@scanfarm/contracts'
import type { JobDraft, Store } from '@scanfarm/store'
import { checkParams, possibleModules, requirements, type KnownRun } from '@scanfarm/engine'
import { manualRefusal } from '@scanfarm/language'
import type { Pinned } from '../catalog/catalog.ts'
import { refuse } from '../http/refusal.ts'
import { machineRunner, refuseDisabled } from '../cloud/plan-cloud-job.ts'
import { chooseRunner } from './runner-choice.ts'
import { timeoutOf } from './field-rules.ts'
import type { Config } from '../settings.ts'

interface Modes {
  readonly config: Pick<Config, 'local' | 'cloud'>
  readonly master: boolean
  readonly store: { readonly workers: Pick<Store['workers'], 'hasLocalSlots'> }
}

/** Whether a live server accepts local runs. */
export const takesLocalRuns = async ({ config, store }: Pick<Modes, 'config' | 'store'>): Promise<boolean> =>
  config.local.slots > 0 || (await store.workers.hasLocalSlots())

/** Why a farm cannot start runs of a mode. */
export const MODE_ERRORS = [
  'master_required',
  'local_disabled',
  'cloud_disabled',
  'cloud_credentials',
  'cloud_limit',
  'unavailable',
] as const

/** Refuses run modes that no server can execute: their runs would wait forever. */
export const refuseMode = async (mode: RunMode, context: Modes): Promise<void> => {
  const { config, master } = context
  if (mode === 'distributed' && !master)
    throw new AppError(
      'master_required',
      'distributed mode requires the server to be started with the --master flag',
    )
  if (mode === 'cloud') refuseDisabled(config.cloud.enabled)
  if (mode === 'local' && !(await takesLocalRuns(context)))
    throw new AppError(
      'local_disabled',
      `local mode requires a server with local slots, but local.slots is 0: ${master ? 'send run_mode distributed, or set' : 'set'} local.slots to 1 or more`,
    )
}

/** The author of a workflow can forbid starts that no trigger made. */
export const refuseManual = ({ resolved }: Pinned): void => {
  const problem = manualRefusal(resolved.root)
  if (problem !== undefined) throw new AppError('wrong_state', problem)
}

export const priorityOf = ({ priority = 'normal' }: Pick<CreateRuns, 'priority'>): Priority =>
  priority === 'medium' ? 'normal' : priority

/** Default concurrency: local runs one at a time, distributed ones by slots, cloud runs one on each machine. */
export const concurrencyOf = ({ concurrency, run_mode = 'local' }: CreateRuns): number | null =>
  concurrency ?? (run_mode === 'local' ? 1 : null)

/** Fields that set params: workflows read them as `threads` and `HeuristicsCheck`. */
export const paramsOf = ({
  params = {},
  threads_hold,
  heuristics_check,
}: CreateRuns): Record<string, string> => ({
  ...params,
  ...(threads_hold === undefined || threads_hold === 0 ? {} : { threads_hold: String(threads_hold) }),
  ...(heuristics_check === undefined ? {} : { heuristics_check }),
})

/** A job whose targets are not known yet. */
export type JobPlan = Omit<JobDraft, 'requirementClass'>

/** The common part of all runs of a request. Refuses params and runners that the workflow cannot use. */
export const planJob = (body: CreateRuns, pinned: Pinned): JobPlan => {
  const { resolved, hash, json } = pinned
  const params = paramsOf(body)
  refuse(checkParams(resolved, params))
  const runner = body.run_mode === 'cloud' ? machineRunner(resolved) : chooseRunner(body, resolved)
  return {
    workflowName: resolved.root.name,
    workflowKind: resolved.root.kind,
    workflow: { hash, json },
    params,
    priority: priorityOf(body),
    runMode: body.run_mode ?? 'local',
    ...runner,
    timeoutMinutes: timeoutOf(body),
    concurrency: concurrencyOf(body),
    resume: body.resume,
    triggerType: 'manual',
    triggerName: '',
    scheduleId: '',
    eventEnvelope: '',
  }
}

/** Names of the variables that the settings give to every run. */
export const operatorVariables = ({ workflows }: Pick<Config, 'workflows'>): string[] =>
  workflows.variables.map(({ name }) => name)

/** The plan with what its runs need of a worker: the programs of modules that certainly do not run do not count. */
export const withRequirements = async (
  plan: JobPlan,
  { resolved }: Pick<Pinned, 'resolved'>,
  { needs = [], ...known }: Omit<KnownRun, 'params'> & { readonly needs?: readonly string[] },
): Promise<JobDraft> => {
  const modules = await possibleModules(resolved, { ...known, params: plan.params })
  const { runnerGiven, runnerType: runner } = plan
  const programs = requirements(resolved, runnerGiven ? { runner, modules } : { modules })
  return { ...plan, requirementClass: classOf([...programs, ...needs]) }
}
