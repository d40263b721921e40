import { CreateRuns, needsOf, REFUSED_FIELDS, RunsCreated } from '@scanfarm/contracts'
import type { JobDraft, SubmittedJob } from '@scanfarm/store'
import { text, type Answer } from '../../http/answer.ts'
import { refuse } from '../../http/field-refusal.ts'
import { textProblems } from '../../http/plain-text.ts'
import { route } from '../../http/route.ts'
import { fieldProblems, singleTargetProblems } from '../../submission/field-rules.ts'
import { gatherTargets, type Gathered } from '../../submission/gather-targets.ts'
import { idempotencyKey, requestHash } from '../../submission/idempotency.ts'
import { toolsAmong } from '../../submission/machine-runner.ts'
import { cloudFields, planCloud } from '../../submission/plan-cloud.ts'
import { planJob, refuseManual, refuseMode } from '../../submission/plan-job.ts'
import { statusUrl } from '../cloud/cloud-path.ts'

const ACCEPTED = 202
/** Room for hundreds of thousands of targets; a file takes more. */
const MAX_BODY_BYTES = 16 * 1024 * 1024
const JSON_TYPE = 'application/json; charset=utf-8'
const kept = ({ status, body }: { status: number; body: string }): Answer => text(status, JSON_TYPE, body)

export const createRuns = route(
  {
    method: 'post',
    path: '/runs',
    tag: 'Runs',
    summary: 'Start a workflow for one target, many targets or a file of targets',
    description:
      'One run is created for each target; all runs of the request share one job. Blank targets, lines that begin with `#` and repetitions are dropped.',
    role: 'operator',
    body: CreateRuns,
    bodyBytes: MAX_BODY_BYTES,
    // Targets and params have rules of their own.
    anyText: true,
    refusedFields: REFUSED_FIELDS,
    rules: (body) => [...fieldProblems(body), ...singleTargetProblems(body)],
    headers: {
      'Idempotency-Key': 'The same key with the same body returns the first answer and starts nothing again',
    },
    responses: { [ACCEPTED]: RunsCreated },
    errors: [
      'invalid_input',
      'invalid_target',
      'invalid_workflow',
      'master_required',
      'cloud_disabled',
      'cloud_credentials',
      'cloud_limit',
      'not_found',
      'wrong_state',
      'unavailable',
      'conflict',
      'workflow_not_found',
      'idempotency_conflict',
    ],
  },
  async (context, { body, caller, http }) => {
    const { store, catalog, artifacts, config, master, wake } = context
    const key = idempotencyKey(http.headers['idempotency-key'], caller)
    const hash = key === undefined ? '' : requestHash(body)
    const earlier = key === undefined ? undefined : await store.idempotency.find(key, hash)
    if (earlier !== undefined) return kept(earlier)

    const { target: _, targets: _all, params: _params, ...words } = body
    refuse([...fieldProblems(body), ...textProblems(words)])
    refuseMode(body.run_mode ?? 'local', master, config.cloud.enabled)
    const kind = body.flow === undefined ? 'module' : 'flow'
    const pinned = await catalog.pin(body.flow ?? body.module ?? '', kind)
    refuseManual(pinned)
    const draft = planJob(body, pinned)
    const gathered = await gatherTargets(body, artifacts, {
      folders: config.targetFile.folders,
      maxTargets: config.jobs.maxTargets,
    })
    const fields = cloudFields(body)
    const machines =
      draft.runMode === 'cloud'
        ? await planCloud(context, fields, toolsAmong(needsOf(draft.requirementClass)))
        : undefined
    const answer = (job: SubmittedJob): string =>
      JSON.stringify(created(body, draft, gathered, job, http.root))
    const submitted = await store.jobs.submit(draft, gathered.drafts, {
      ...(machines && { cloud: { ...machines, fields } }),
      ...(key !== undefined && {
        idempotency: {
          key,
          requestHash: hash,
          answer: (job) => ({ status: ACCEPTED, body: answer(job) }),
        },
      }),
    })
    wake.ring()
    return kept('kept' in submitted ? submitted.kept : { status: ACCEPTED, body: answer(submitted.job) })
  },
)

const created = (
  body: CreateRuns,
  draft: JobDraft,
  { count, targets = [], dropped }: Gathered,
  job: SubmittedJob,
  root: string,
): RunsCreated => {
  const single = count === 1
  const { infra } = job
  const concurrency = draft.concurrency ?? infra?.instances
  return {
    message: single ? 'Run queued' : `${count} runs queued`,
    workflow: draft.workflowName,
    kind: draft.workflowKind,
    ...(single ? { target: targets[0] } : {}),
    target_count: count,
    ...(!single && body.targets !== undefined ? { targets: [...targets] } : {}),
    ...(!single && concurrency !== undefined ? { concurrency } : {}),
    priority: draft.priority,
    run_mode: draft.runMode,
    job_id: job.jobId,
    ...(job.runUuid === undefined ? {} : { run_uuid: job.runUuid }),
    status: 'queued',
    poll_url: `${root}/jobs/${job.jobId}`,
    ...(body.runner_type === undefined ? {} : { runner_type: body.runner_type }),
    ...(draft.timeoutMinutes === null ? {} : { timeout: draft.timeoutMinutes }),
    ...(dropped === 0 ? {} : { duplicates_dropped: dropped }),
    ...(infra && {
      infra_id: infra.infraId,
      infra_status_url: statusUrl(root, infra.infraId),
      cloud_provider: infra.provider,
      cloud_instances: infra.instances,
    }),
  }
}
