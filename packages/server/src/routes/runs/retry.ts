import { AppError, closed, needsOf, paramsProblems, plural, RunStatus } from '@scanfarm/contracts'
import type { Retried, RetrySelection } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { signalCancel } from '../../cancel.ts'
import { planCloud, toolsAmong } from '../../cloud/plan-cloud-job.ts'
import type { ServerContext } from '../../context.ts'
import { found, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { MODE_ERRORS, refuseMode } from '../../submission/plan-job.ts'
import { RUNS_AT_ONCE } from './create-runs.ts'

const START_ERRORS = ['not_found', 'invalid_input', 'target_refused', 'wrong_state', ...MODE_ERRORS] as const

const DEFAULT_STATUSES = ['failed', 'cancelled'] as const

const From = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'What is executed again, if the runs have stored their steps: `failed` (default), the first step that failed and all after it; `start`, everything; or the name of a step (of a module of a flow: `module/step`), it and all after it',
  }),
)

/** As the store takes it. */
const fromOf = async ({ store }: ServerContext, jobNo: number, from = 'failed') => {
  if (from === 'start') return null
  if (from === 'failed') return from
  if (!(await store.jobs.hasStep(jobNo, from)))
    refuse([
      { path: '/from', message: `must be start, failed or the name of a step: there is no step ${from}` },
    ])
  return { step: from }
}

/** Undefined: there is nothing to repeat. */
const retryIn = async (context: ServerContext, jobId: string, selection: RetrySelection, from?: string) => {
  const { store, scopes, notifier } = context
  const source = found('job', jobId, await store.jobs.retrySource(jobId))
  // The job may be older than the limits of params.
  refuse(paramsProblems(source.params))
  await scopes.demandScope(jobId)
  await refuseMode(source.runMode, context)
  const cloud =
    source.runMode === 'cloud'
      ? await planCloud(context, source.cloud ?? {}, toolsAmong(needsOf(source.requirementClass)))
      : undefined
  const first = await fromOf(context, source.no, from)
  const retried = await store.jobs.retry(source.no, selection, { cloud, from: first, atOnce: RUNS_AT_ONCE })
  if (retried !== undefined && retried.runs > 0) notifier.notify()
  return retried
}

export const retryJob = route(
  {
    endpoint: 'POST /jobs/{job_id}/retry',
    summary: 'Repeat what failed or was cancelled, as a new job',
    description:
      'The new job has the workflow version, params and priority of the first one, and its targets whose latest run, in the job and its retries, has one of `statuses` or `outcomes`. Targets that a retry is executing are left out: a repeated request answers 200 with the retry that exists. The runs of the first job stay as they are.',
    role: 'operator',
    body: closed({
      statuses: Type.Optional(
        Type.Array(Type.Enum(['failed', 'cancelled']), {
          maxItems: 2,
          description: 'Default: failed and cancelled, if outcomes is missing too',
        }),
      ),
      outcomes: Type.Optional(
        Type.Array(Type.Enum(['partial', 'nothing_done']), {
          maxItems: 2,
          description: 'Also runs with these outcomes, whatever their status',
        }),
      ),
      from: From,
      pattern: Type.Optional(
        Type.String({
          maxLength: 2_000,
          description: 'Only runs in the groups of `GET /jobs/{job_id}/failures` with this pattern',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        message: Type.String(),
        job_id: Type.String({ description: 'The retry' }),
        retry_of: Type.String(),
        runs: Type.Integer({
          minimum: 0,
          description: 'Runs that this request created; 0: the retry existed',
        }),
      }),
    },
    errors: START_ERRORS,
  },
  async (context, { params, body }) => {
    const { statuses, outcomes = [], pattern, from } = body
    const chosen = statuses ?? (outcomes.length === 0 ? DEFAULT_STATUSES : [])
    if (chosen.length + outcomes.length === 0)
      refuse([{ path: '/statuses', message: 'must name a status if outcomes is empty: failed, cancelled' }])
    const selection = { statuses: chosen, outcomes, ...(await runsWith(context, params.job_id, pattern)) }
    const retried = await retryIn(context, params.job_id, selection, from)
    if (retried === undefined) {
      const states = [...chosen, ...outcomes].join(' or ')
      const group = pattern === undefined ? '' : ' with this pattern'
      throw new AppError('wrong_state', `nothing to retry: no target's latest run is ${states}${group}`)
    }
    const { jobId, runs } = retried
    return {
      message:
        runs === 0
          ? 'A retry is already running'
          : [`${plural(runs, 'run')} queued again`, ...startNote(retried)].join('; '),
      job_id: jobId,
      retry_of: params.job_id,
      runs,
    }
  },
)

const startNote = ({ runs, atStart }: Retried): string[] =>
  atStart === 0 ? [] : [`${atStart} of ${runs} from the start: no step of the earlier run is stored`]

const runsWith = async ({ store }: ServerContext, jobId: string, pattern: string | undefined) =>
  pattern === undefined ? {} : { runIds: await store.jobs.runsOfPattern(jobId, pattern) }

/** Runs of one request. */
const MOST_RUNS = 1_000

const ids = Type.Array(
  Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1, maxLength: 64 })]),
  {
    minItems: 1,
    maxItems: MOST_RUNS,
    description: `Numbers or uuids of runs; at most ${MOST_RUNS}`,
  },
)
const RunIds = closed({ ids })

const Id = Type.String({ description: 'As in the request' })

export const cancelRuns = route(
  {
    endpoint: 'POST /runs/cancel',
    summary: 'Cancel several runs',
    description:
      'Waiting runs are cancelled at once. Running ones are asked to stop and are cancelled seconds later. Ended and unknown runs are reported and change nothing.',
    role: 'operator',
    body: RunIds,
    responses: {
      200: Type.Object({
        data: Type.Array(
          Type.Object({
            id: Id,
            result: Type.Enum(['cancelled', 'stopping', 'ended', 'not_found']),
            status: Type.Optional(RunStatus),
          }),
        ),
      }),
    },
  },
  async (context, { body }) => {
    const refs = [...new Set(body.ids.map(String))]
    const requests = await context.store.runs.requestCancels(refs)
    const running = requests.filter(({ status }) => status === 'running')
    await signalCancel(
      context,
      running.map(({ id }) => id),
    )
    const byRef = new Map(
      requests.flatMap((one) => [[String(one.id), one] as const, [one.runUuid, one] as const]),
    )
    return {
      data: refs.map((id) => {
        const request = byRef.get(id.toLowerCase())
        if (request === undefined) return { id, result: 'not_found' as const }
        const { status, was } = request
        if (status === 'running') return { id, result: 'stopping' as const, status }
        return {
          id,
          result: was === 'pending' || was === 'queued' ? ('cancelled' as const) : ('ended' as const),
          status,
        }
      }),
    }
  },
)

const RepeatedRun = Type.Object({
  id: Id,
  result: Type.Enum(['retried', 'running', 'refused', 'not_found']),
  job_id: Type.Optional(Type.String({ description: 'The retry' })),
  run_uuid: Type.Optional(Type.String({ description: 'The new run' })),
  message: Type.Optional(Type.String({ description: 'Why the run was not repeated, or not from the step' })),
})
type RunResult = Omit<Static<typeof RepeatedRun>, 'id'>

export const retryRuns = route(
  {
    endpoint: 'POST /runs/retry',
    summary: 'Repeat several runs that did not do all their work',
    description:
      'Repeats runs that failed, were cancelled, or ended with the outcome partial or nothing_done. The runs of each job become one new job, as with `POST /jobs/{job_id}/retry`; a run that a retry is already executing is not repeated twice.',
    role: 'operator',
    body: closed({ ids, from: From }),
    responses: {
      200: Type.Object({
        data: Type.Array(RepeatedRun),
      }),
    },
    errors: ['unavailable'],
  },
  async (context, { body }) => {
    const refs = [...new Set(body.ids.map(String))]
    const known = await context.store.runs.identify(refs)
    const results = new Map<string, RunResult>()
    for (const [jobId, runs] of Map.groupBy(known, (run) => run.jobId)) {
      const answer = await retryOfJob(
        context,
        jobId,
        runs.map(({ id }) => id),
        body.from,
      )
      for (const run of runs) {
        const result = answer(run.id)
        results.set(String(run.id), result)
        results.set(run.runUuid, result)
      }
    }
    return {
      data: refs.map((id) => ({
        id,
        ...(results.get(id.toLowerCase()) ?? { result: 'not_found' as const }),
      })),
    }
  },
)

const ALL_OUTCOMES = ['partial', 'nothing_done'] as const

/** A job that cannot be started does not stop the others. */
const retryOfJob = async (
  context: ServerContext,
  jobId: string,
  runIds: readonly number[],
  from: string | undefined,
): Promise<(runId: number) => RunResult> => {
  const selection = { statuses: DEFAULT_STATUSES, outcomes: ALL_OUTCOMES, runIds }
  try {
    const retried = await retryIn(context, jobId, selection, from)
    const made = retried ? await context.store.runs.runsAgain(runIds, retried.jobId) : undefined
    return (runId) => {
      const uuid = made?.get(runId)
      const [message] = retried ? startNote(retried) : []
      return retried === undefined || uuid === undefined
        ? { result: 'refused', message: 'the latest run of this target has not ended, or did all its work' }
        : {
            result: retried.runs === 0 ? 'running' : 'retried',
            job_id: retried.jobId,
            run_uuid: uuid,
            ...(message !== undefined && { message }),
          }
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error
    const { message } = error
    return () => ({ result: 'refused', message })
  }
}
