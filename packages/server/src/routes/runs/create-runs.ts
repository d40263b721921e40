import { createHash } from 'node:crypto'
import {
  AppError,
  CLOUD_FIELDS,
  CreateRuns,
  LISTED_REFUSALS,
  needsOf,
  picked,
  RunsCreated,
  type Warnings,
} from '@scanfarm/contracts'
import { paramWarnings } from '@scanfarm/engine'
import type { JobDraft, SubmittedJob } from '@scanfarm/store'
import type { Caller } from '../../access/authenticator.ts'
import { text, type Answer } from '../../http/answer.ts'
import { refuse, textProblems } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { fieldProblems, singleTargetProblems, warningsOf } from '../../submission/field-rules.ts'
import {
  collectTargets,
  targetTypeProblems,
  withoutTarget,
  type Collected,
} from '../../submission/collect-targets.ts'
import { planCloud, toolsAmong } from '../../cloud/plan-cloud-job.ts'
import {
  operatorVariables,
  planJob,
  refuseManual,
  refuseMode,
  withRequirements,
  MODE_ERRORS,
} from '../../submission/plan-job.ts'
import { checkMissingTools } from '../../submission/missing-tools.ts'
import { chooseTargets } from '../../submission/delta.ts'
import { readRunsForm } from '../../compat/read-forms.ts'
import { planRepetition } from '../../submission/repeat.ts'
import { refuseNetwork } from '../../submission/runner-choice.ts'
import { infraStatusUrl } from '../../cloud/infra-routes.ts'

const ACCEPTED = 202
/** Enough for hundreds of thousands of targets; a file can have more. */
const MAX_BODY_BYTES = 16 * 1024 * 1024
/** The runs of larger requests are created after the answer. */
export const RUNS_AT_ONCE = 5_000
const JSON_TYPE = 'application/json; charset=utf-8'
const kept = ({ status, body }: { status: number; body: string }): Answer => text(status, JSON_TYPE, body)

export const createRuns = route(
  {
    endpoint: 'POST /runs',
    summary: 'Start a workflow for one target, many targets or a file of targets',
    description:
      'One run is created for each target; all runs of the request share one job. With more than 5,000 targets, the job counts all of them as pending at once, and their runs appear in it and in lists within seconds. Blank targets, lines that begin with `#` and duplicates are dropped. Forms of existing clients are accepted: fields that are null or "" count as missing, numbers and booleans in params become text, and fields that have no effect are reported in `warnings`.',
    role: 'operator',
    body: CreateRuns,
    bodyBytes: MAX_BODY_BYTES,
    // Targets and params have their own validation.
    anyText: true,
    reads: readRunsForm,
    rules: (body) => [...fieldProblems(body), ...singleTargetProblems(body)],
    headers: {
      'Idempotency-Key': 'A repeated key with the same body returns the first answer and starts nothing',
    },
    responses: { [ACCEPTED]: RunsCreated },
    errors: [
      'invalid_target',
      'target_refused',
      'invalid_workflow',
      ...MODE_ERRORS,
      'forbidden',
      'not_found',
      'wrong_state',
      'missing_tools',
      'conflict',
      'workflow_not_found',
      'idempotency_conflict',
    ],
  },
  async (context, { body, caller, http }) => {
    const { store, catalog, scopes, artifacts, config, dispatcher, receiver, notifier } = context
    const key = idempotencyKey(http.headers['idempotency-key'], caller)
    const hash = key === undefined ? '' : requestHash(body)
    const earlier = key === undefined ? undefined : await store.idempotency.find(key, hash)
    if (earlier !== undefined) return kept(earlier)

    const { target: _, targets: _all, params: _params, ...words } = body
    refuse([...fieldProblems(body), ...textProblems(words)])
    await refuseMode(body.run_mode ?? 'local', context)
    refuseNetwork(body, caller)
    const kind = body.flow === undefined ? 'module' : 'flow'
    const pinned = await catalog.pin(body.flow ?? body.module ?? '', kind)
    refuseManual(pinned)
    const plan = planJob(body, pinned)
    const keeper = await scopes.keeperOf(body.scope, plan.workflowName)
    const targetless = withoutTarget(body, pinned, keeper)
    const all =
      targetless?.collected ??
      (await collectTargets(body, artifacts, {
        folders: config.targetFile.folders,
        maxTargets: context.limits.targets,
        refusal: keeper.refusal,
      }))
    await scopes.demand(all, body.strict)
    const { refused } = all
    const chosen = await chooseTargets(store, body, plan, all.drafts)
    const collected: Collected =
      chosen === undefined
        ? all
        : {
            ...all,
            count: chosen.drafts.length,
            targets: chosen.drafts.map(({ target }) => target),
            drafts: chosen.drafts,
          }
    const draft = {
      ...(await withRequirements(plan, pinned, {
        targets: collected.targets,
        operatorVariables: operatorVariables(config),
        needs: keeper.needs(),
      })),
      submittedBy: `${caller.kind}:${caller.name}`,
      scopeNo: keeper.scopeNo,
      ...(refused && { refused: { ...refused, place: 'submit' as const } }),
      ...(chosen && { delta: chosen.delta }),
    }
    const { schedule, warnings } = planRepetition(body, draft, all.targets, caller)
    const repeated = schedule === undefined ? [] : (all.targets ?? [])
    refuse(targetTypeProblems(pinned.resolved, repeated, body))
    const waiting = await checkMissingTools(context, draft, body.missing_tools)
    const taken = [
      ...warningsOf(body),
      ...paramWarnings(pinned.resolved, plan.params),
      ...(targetless?.warnings ?? []),
      ...warnings,
      ...waiting,
    ]
    const fields = picked(body, CLOUD_FIELDS)
    const machines =
      draft.runMode === 'cloud'
        ? await planCloud(context, fields, toolsAmong(needsOf(draft.requirementClass)))
        : undefined
    const answer = (job: SubmittedJob): string =>
      JSON.stringify(created(body, draft, collected, job, http.root, taken))
    const submitted = await store.jobs.submit(draft, collected.drafts, {
      runsAtOnce: RUNS_AT_ONCE,
      ...(dispatcher && { send: dispatcher.reserve(draft) }),
      ...(schedule && { schedule }),
      ...(machines && { cloud: { ...machines, fields } }),
      ...(key !== undefined && {
        idempotency: {
          key,
          requestHash: hash,
          answer: (job) => ({ status: ACCEPTED, body: answer(job) }),
        },
      }),
    })
    if (schedule !== undefined) await receiver.registry.current()
    if ('kept' in submitted) return kept(submitted.kept)
    scopes.count(refused?.count ?? 0, 'submit')
    void dispatcher?.send(submitted.sent)
    if (submitted.sent.length < collected.count) notifier.notify()
    return kept({ status: ACCEPTED, body: answer(submitted.job) })
  },
)

const created = (
  body: CreateRuns,
  draft: JobDraft,
  { count, targets = [], dropped, skipped, refused }: Collected,
  job: SubmittedJob,
  root: string,
  warnings: Warnings,
): RunsCreated => {
  const single = count === 1
  const { infra, scheduleId } = job
  const concurrency = draft.concurrency ?? infra?.instances
  return {
    message: `${single ? 'Run' : `${count} runs`} queued${scheduleId === undefined ? '' : `, and scheduled as ${scheduleId}`}`,
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
    ...(skipped && { skipped_count: skipped.count, skipped: [...skipped.problems] }),
    ...(body.scope === undefined ? {} : { scope: body.scope }),
    ...(refused && { refused_count: refused.count, refused: [...refused.listed] }),
    ...(draft.delta?.leftOut.length
      ? {
          left_out_count: draft.delta.leftOut.length,
          left_out: draft.delta.leftOut.slice(0, LISTED_REFUSALS),
        }
      : {}),
    ...(infra && {
      infra_id: infra.infraId,
      infra_status_url: infraStatusUrl(root, infra.infraId),
      cloud_provider: infra.provider,
      cloud_instances: infra.instances,
    }),
    ...echoed(body),
    ...(scheduleId === undefined ? {} : { schedule_id: scheduleId }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

/** Osmedeus clients expect these fields in the answer. */
const echoed = (body: CreateRuns): Partial<RunsCreated> => ({
  ...picked(body, ['threads_hold', 'heuristics_check', 'repeat_wait_time', 'schedule', 'schedule_enabled']),
  ...(body.empty_target === true ? { empty_target: true } : {}),
  ...(body.repeat === true ? { repeat: true } : {}),
})

const KEY = /^[\x21-\x7e]{1,255}$/

/** The key is separate for each caller. Undefined if the header is missing. */
export const idempotencyKey = (header: unknown, caller: Caller): string | undefined => {
  if (header === undefined) return undefined
  if (typeof header === 'string' && KEY.test(header)) return `${caller.kind}:${caller.id}:${header}`
  throw new AppError('bad_request', 'Idempotency-Key must have 1 to 255 printable ASCII characters')
}

/** Independent of white space and of the order of fields. */
export const requestHash = (body: unknown): string =>
  createHash('sha256').update(JSON.stringify(body, sortedFields)).digest('hex')

const sortedFields = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
