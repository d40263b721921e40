import { AppError, needsOf, paramsProblems, WorkflowKind } from '@scanfarm/contracts'
import type { CloudChoice } from '@scanfarm/store'
import { Type } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { found, missing, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { planCloud, toolsAmong } from '../../cloud/plan-cloud-job.ts'
import { MODE_ERRORS, refuseMode } from '../../submission/plan-job.ts'
import { RunPath } from './read-runs.ts'

const Uuid = Type.String({ format: 'uuid' })

export const duplicateRun = route(
  {
    endpoint: 'POST /runs/{id}/duplicate',
    summary: 'Copy a run with the same configuration',
    description: 'The copy is a new job with one run, which is pending until it is started.',
    role: 'operator',
    params: RunPath,
    responses: {
      201: Type.Object({
        message: Type.String(),
        original_run_id: Type.String({ format: 'uuid', description: 'run_uuid of the source' }),
        new_run_uuid: Uuid,
        status: Type.Literal('pending'),
        job_id: Type.String(),
        original_run_uuid: Type.String({ format: 'uuid', description: 'Same as original_run_id' }),
        run_uuid: Type.String({ format: 'uuid', description: 'Same as new_run_uuid' }),
        workflow: Type.String(),
        target: Type.String(),
      }),
    },
    errors: ['invalid_input', 'target_refused'],
  },
  async ({ store, scopes }, { params }) => {
    const source = found('run', params.id, await store.runs.find(params.id))
    // The run may be older than the limits of params.
    refuse(paramsProblems(source.params))
    await scopes.demandScope(source.run_group_id, source.workspace)
    const copy = await store.runs.duplicate(params.id)
    const run = copy && (await store.runs.find(copy.runUuid))
    if (copy === undefined || run === undefined) throw missing('run', params.id)
    return {
      message: 'Run duplicated',
      original_run_id: copy.originalRunUuid,
      new_run_uuid: copy.runUuid,
      status: 'pending' as const,
      job_id: copy.jobId,
      original_run_uuid: copy.originalRunUuid,
      run_uuid: copy.runUuid,
      workflow: run.workflow_name,
      target: run.target,
    }
  },
)

export const startRun = route(
  {
    endpoint: 'POST /runs/{id}/start',
    summary: 'Start a pending run',
    role: 'operator',
    params: RunPath,
    responses: {
      202: Type.Object({
        message: Type.String(),
        run_uuid: Uuid,
        status: Type.Literal('running'),
        workflow: Type.String(),
        kind: WorkflowKind,
        target: Type.String(),
      }),
    },
    errors: ['bad_request', 'target_refused', 'wrong_state', ...MODE_ERRORS],
  },
  async (context, { params }) => {
    const { store, scopes, notifier } = context
    const before = found('run', params.id, await store.runs.find(params.id))
    if (before.status !== 'pending') throw notPending(before.status)
    await scopes.demandScope(before.run_group_id, before.workspace)
    await refuseMode(before.run_mode, context)
    const start = found(
      'run',
      params.id,
      await store.runs.start(params.id, await machinesFor(context, params.id)),
    )
    const { run, started } = start
    if (!started) throw notPending(run.status)
    notifier.notify()
    return {
      message: 'Run started',
      run_uuid: run.run_uuid,
      status: 'running' as const,
      workflow: run.workflow_name,
      kind: run.workflow_kind,
      target: run.target,
    }
  },
)

const notPending = (status: string): AppError =>
  new AppError('bad_request', `only a pending run can be started, but this run is ${status}`)

/** Machines as requested when the run was submitted; undefined for other run modes. */
const machinesFor = async (context: ServerContext, id: string): Promise<CloudChoice | undefined> => {
  const cloud = await context.store.runs.cloudOf(id)
  return cloud && planCloud(context, cloud.fields, toolsAmong(needsOf(cloud.requirementClass)))
}
