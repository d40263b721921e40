import { Readable } from 'node:stream'
import { closed, JobStatus, Priority, Run } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { signalCancel } from '../../cancel.ts'
import type { ServerContext } from '../../context.ts'
import { bytes, json, text } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { VoidMessageRemover } from '../../void-messages.ts'
import { isEstablished, runShape } from '../../compat/runs.ts'
import { listed } from './listed.ts'
import { found } from '../../http/refusal.ts'

const Count = Type.Integer({ minimum: 0 })

const JobAnswer = Type.Object({
  ...JobStatus.properties,
  runs: Type.Array(
    Type.Object({
      ...Type.Partial(Run).properties,
      ...Type.Pick(Run, ['run_uuid', 'target', 'status', 'outcome']).properties,
    }),
  ),
  run_group_id: Type.String({ description: 'Same as job_id' }),
  status: Type.Enum(['pending', 'running', 'completed', 'failed', 'cancelled', 'partial'], {
    description: 'completed, failed or cancelled if all runs ended so; partial if they ended differently',
  }),
  progress: Type.Object(
    { total: Count, pending: Count, running: Count, completed: Count, failed: Count, cancelled: Count },
    { description: 'The counters again, where Osmedeus clients expect them' },
  ),
})

const overall = ({ total_runs, pending, running, completed, failed, cancelled }: Omit<JobStatus, 'runs'>) => {
  if (pending > 0 && pending === total_runs) return 'pending' as const
  if (pending + running > 0) return 'running' as const
  if (completed === total_runs) return 'completed' as const
  if (failed === total_runs) return 'failed' as const
  return cancelled === total_runs ? ('cancelled' as const) : ('partial' as const)
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** A JSON object with its runs as the last field. */
async function* jobText(head: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${head.slice(0, -1)},"runs":[`
  let between = ''
  for await (const piece of pieces) {
    yield between + piece
    between = ','
  }
  yield ']}'
}

/** Runs with all fields of one answer that is not streamed. */
const WHOLE_IN_MEMORY = 1_000

/** All fields of the runs of a job, as JSON text. */
async function* wholeRuns(context: ServerContext, jobId: string, root: string): AsyncGenerator<string> {
  const shown = await runShape(context, root)
  for (let after = 0; ;) {
    const runs = await context.store.jobs.runs(jobId, after)
    const last = runs.at(-1)
    if (last === undefined) return
    yield runs.map((run) => JSON.stringify(listed(shown(run)))).join(',')
    after = last.id
  }
}

export const getJob = route(
  {
    endpoint: 'GET /jobs/{job_id}',
    summary: 'Read the status of all runs of one request',
    description: 'Below `/osm/api` the runs have all fields of a run.',
    role: 'viewer',
    responses: { 200: JobAnswer },
  },
  async (context, { params, http }) => {
    const report = found('job', params.job_id, await context.store.jobs.report(params.job_id))
    const { counts, isInMemory, pieces } = report
    const { job_id: jobId, total_runs: total, outcomes: _, ...states } = counts
    const progress = { total, ...states }
    const head = { ...counts, run_group_id: jobId, status: overall(counts), progress }
    const whole = isEstablished(http.root)
    const runs = whole ? wholeRuns(context, params.job_id, http.root) : pieces
    const body = jobText(JSON.stringify(head), runs)
    // Large jobs are streamed instead of buffered.
    return isInMemory && (!whole || total <= WHOLE_IN_MEMORY)
      ? text(200, JSON_TYPE, (await Array.fromAsync(body)).join(''))
      : bytes(200, Readable.from(body), { 'Content-Type': JSON_TYPE })
  },
)

export const cancelJob = route(
  {
    endpoint: 'POST /jobs/{job_id}/cancel',
    summary: 'Cancel all runs of a job that have not ended',
    description:
      'Waiting runs no longer start and are cancelled immediately; those of a large job are cancelled within seconds. Running ones are asked to stop and are cancelled seconds later: poll the job.',
    role: 'operator',
    responses: {
      202: Type.Object({
        message: Type.String(),
        job_id: Type.String(),
        cancelled: Type.Integer({ minimum: 0, description: 'Waiting runs that were cancelled' }),
        stopping: Type.Integer({ minimum: 0, description: 'Running runs that were asked to stop' }),
      }),
    },
  },
  async (context, { params }) => {
    const request = found('job', params.job_id, await context.store.jobs.requestCancel(params.job_id))
    const { cancelled, requested, waiting } = request
    await signalCancel(context, requested)
    const messages = new VoidMessageRemover(context.queue, context.log)
    messages.forget(waiting)
    await messages.finish()
    const nothing = cancelled + requested.length === 0
    return {
      message: nothing ? 'All runs of the job have already ended' : 'Job cancelled successfully',
      job_id: params.job_id,
      cancelled,
      stopping: requested.length,
    }
  },
)

const ChangedPriority = Type.Object({
  message: Type.String(),
  job_id: Type.String(),
  priority: Priority,
  previous: Priority,
  changed: Type.Integer({
    minimum: 0,
    description: 'Waiting runs that got the new priority, or are getting it',
  }),
})

export const changeJob = route(
  {
    endpoint: 'PATCH /jobs/{job_id}',
    summary: 'Change the priority of the waiting runs of a job',
    description:
      'Waiting runs, also those whose message is in the queue, take their place by the new priority. Running runs are not touched. The answer is 202 if more than 10,000 runs wait: they take their place within seconds or, with a million, within a minute.',
    role: 'operator',
    body: closed({ priority: Priority }),
    responses: {
      200: ChangedPriority,
      202: ChangedPriority,
    },
  },
  async ({ store, queue, notifier, log }, { params, body }) => {
    const { priority } = body
    const messages = new VoidMessageRemover(queue, log)
    const change = found(
      'job',
      params.job_id,
      await store.jobs.changePriority(params.job_id, priority, messages.remove),
    )
    const { previous, changed, later } = change
    messages.forget(change.waiting)
    notifier.notify()
    await messages.finish()
    const same = previous === priority && changed === 0
    const runs = `${changed} waiting ${changed === 1 ? 'run' : 'runs'}`
    const message = same
      ? `The priority was already ${priority}`
      : later
        ? `${runs} are getting the priority ${priority}`
        : `${runs} ${changed === 1 ? 'has' : 'have'} the priority ${priority}`
    return json(later ? 202 : 200, { message, job_id: params.job_id, priority, previous, changed })
  },
)
