import { AppError, classOf, type CreateRuns, type Priority, type RunMode } from '@scanfarm/contracts'
import type { JobDraft } from '@scanfarm/store'
import { checkParams, manualRefusal, requirements } from '@scanfarm/workflow'
import type { Pinned } from '../catalog/catalog.ts'
import type { ServerContext } from '../context.ts'
import { refuse } from '../http/field-refusal.ts'
import { machineRunner } from './machine-runner.ts'
import { chooseRunner } from './runner-choice.ts'
import { timeoutOf } from './timeout.ts'

type Modes = Pick<ServerContext, 'config' | 'master' | 'store'>

/** Whether a live server takes local runs. */
export const takesLocalRuns = async ({ config, store }: Pick<Modes, 'config' | 'store'>): Promise<boolean> =>
  config.local.slots > 0 || (await store.workers.hasLocalSlots())

/** Modes that cannot be served are refused before anything is looked up: their runs would wait for ever. */
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
      `local mode requires a server with local slots, and local.slots is 0: ${master ? 'send run_mode distributed, or set' : 'set'} local.slots to 1 or more`,
    )
}

/** Everything about clouds needs this. */
export const refuseDisabled = (cloudEnabled: boolean): void => {
  if (cloudEnabled) return
  throw new AppError(
    'cloud_disabled',
    'cloud mode requires cloud support to be enabled in the settings: set cloud.enabled to true',
  )
}

/** What people ask for, other than triggers, may be shut by the workflow's author. */
export const refuseManual = ({ resolved }: Pinned): void => {
  const problem = manualRefusal(resolved.root)
  if (problem !== undefined) throw new AppError('wrong_state', problem)
}

export const priorityOf = ({ priority = 'normal' }: Pick<CreateRuns, 'priority'>): Priority =>
  priority === 'medium' ? 'normal' : priority

/**
 * Local runs of a job go one by one unless the caller says otherwise, distributed ones as there are slots, cloud ones
 * one by one on each machine.
 */
export const concurrencyOf = ({ concurrency, run_mode = 'local' }: CreateRuns): number | null =>
  concurrency ?? (run_mode === 'local' ? 1 : null)

/** Fields that are params by another name: workflows read `threads` and `HeuristicsCheck` from them. */
export const paramsOf = ({
  params = {},
  threads_hold,
  heuristics_check,
}: CreateRuns): Record<string, string> => ({
  ...params,
  ...(threads_hold === undefined || threads_hold === 0 ? {} : { threads_hold: String(threads_hold) }),
  ...(heuristics_check === undefined ? {} : { heuristics_check }),
})

/** What is common to all runs of the request. Refuses params and runners that the workflow cannot use. */
export const planJob = (body: CreateRuns, pinned: Pinned): JobDraft => {
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
    requirementClass: classOf(
      requirements(resolved, runner.runnerGiven ? { runner: runner.runnerType } : {}),
    ),
    triggerType: 'manual',
    triggerName: '',
    scheduleId: '',
    eventEnvelope: '',
  }
}
