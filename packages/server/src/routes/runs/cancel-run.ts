import { isTerminal, RunStatus, type Run, type RunDetail } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { cancelDeadlineMs, signalCancel, waitForEnd } from '../../cancel.ts'
import type { ServerContext } from '../../context.ts'
import { route } from '../../http/route.ts'
import { RunPath } from './read-runs.ts'
import { found } from '../../http/refusal.ts'

/** How long a request waits for the owner of the run to kill the processes and report. */
const ANSWER_MS = 5_000

const Cancelled = Type.Object({
  message: Type.String(),
  id: Type.Integer(),
  run_uuid: Type.String({ format: 'uuid' }),
  killed_pids: Type.Optional(
    Type.Array(Type.Integer(), { description: 'Only if processes were terminated' }),
  ),
  processes_terminated: Type.Optional(Type.Integer()),
  kill_method: Type.Optional(Type.Enum(['registry', 'database_pid'])),
  note: Type.Optional(
    Type.String({ description: 'Only if no active process was found, or processes have not ended yet' }),
  ),
  status: Type.Optional(RunStatus),
})

export const cancelRun = route(
  {
    endpoint: 'DELETE /runs/{id}',
    summary: 'Cancel a run and terminate its processes',
    description:
      'Waits up to 5 seconds for the owner of the run, and those of the runs that execute items of its loops, to report the terminated processes. If the owner does not report within `runs.cancel_grace_ms` plus 4 seconds, the run is set to `cancelled` without it. With a longer grace period the answer has the `status` `running` and a `note`: poll the run. An ended run is not changed: the answer has its `status` and a `note`.',
    role: 'operator',
    params: RunPath,
    responses: { 200: Cancelled },
  },
  async (context, { params }) => {
    const { store, notifier } = context
    const request = found('run', params.id, await store.runs.requestCancel(params.id))
    if (isTerminal(request.was)) return ended(request, request.was)
    if (request.status === 'cancelled') return answer(request, NO_PROCESS)

    const batches = await store.runs.list(
      { parent: request.id, status: 'running' },
      { offset: 0, limit: 100 },
    )
    const until = performance.now() + ANSWER_MS
    await signalCancel(context, [request.id])
    const { cancelGraceMs } = context.config.runs
    const waited = await waitForEnd(store.runs, notifier, request.runUuid, ANSWER_MS)
    const isOpen = waited !== undefined && !isTerminal(waited.status)
    if (isOpen && (await store.runs.forceCancel(request.id, cancelDeadlineMs(cancelGraceMs))))
      return answer(request, 'The process that owns the run did not answer; the stored status was updated')
    const run = isOpen ? await store.runs.find(request.runUuid) : waited
    if (run === undefined) return answer(request, NO_PROCESS)
    if (run.status === 'cancelled') return reported(run, await pidsOf(context, batches.data, until))
    return isTerminal(run.status) ? ended(request, run.status) : ending(request, run.status, cancelGraceMs)
  },
)

const DONE = 'Run cancelled successfully'
const NO_PROCESS = 'No active process was found; the stored status was updated'

type Identity = Readonly<{ id: number; runUuid: string }>

const answer = ({ id, runUuid: run_uuid }: Identity, note: string) => ({ message: DONE, id, run_uuid, note })

/** As Osmedeus clients expect: an ended run is not an error, and nothing changes. */
const ended = (run: Identity, status: RunStatus) => ({
  ...answer(run, status === 'cancelled' ? 'The run was already cancelled' : 'The run had already ended'),
  ...(status === 'cancelled' ? {} : { message: `Nothing to cancel: the run is ${status}` }),
  status,
})

const ending = (run: Identity, status: RunStatus, cancelGraceMs: number) => ({
  ...answer(
    run,
    `Processes of the run have ${cancelGraceMs / 1_000} s after the request to end before they are killed; then the run is cancelled`,
  ),
  status,
})

/** Those that the owners of runs report which execute items of an ended run. */
const pidsOf = async (context: ServerContext, batches: readonly Run[], until: number): Promise<number[]> => {
  const ids = batches.map(({ id }) => id)
  await signalCancel(context, ids)
  const left = until - performance.now()
  const ended = ids.map((id) => waitForEnd(context.store.runs, context.notifier, `${id}`, left))
  return (await Promise.all(ended)).flatMap((run) => run?.killed_pids ?? [])
}

const reported = ({ id, run_uuid, killed_pids: own }: RunDetail, ofBatches: readonly number[]) => {
  const pids = [...own, ...ofBatches]
  if (pids.length === 0) return answer({ id, runUuid: run_uuid }, NO_PROCESS)
  const kill_method = 'registry' as const
  return { message: DONE, id, run_uuid, killed_pids: pids, processes_terminated: pids.length, kill_method }
}
