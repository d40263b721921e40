import { AppError, type RunDetail } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { signalCancel } from '../../cancel/signal-cancel.ts'
import { waitForEnd } from '../../cancel/wait-for-end.ts'
import { route } from '../../http/route.ts'
import { noRun, RunPath } from './run-path.ts'

/** How long the process that owns the run may take to kill and report before the row is ended without it. */
const OWNER_MS = 5_000

const Cancelled = Type.Object({
  message: Type.String(),
  id: Type.Integer(),
  run_uuid: Type.String({ format: 'uuid' }),
  killed_pids: Type.Optional(
    Type.Array(Type.Integer(), { description: 'Only when processes were terminated' }),
  ),
  processes_terminated: Type.Optional(Type.Integer()),
  kill_method: Type.Optional(Type.Enum(['registry', 'database_pid'])),
  note: Type.Optional(Type.String({ description: 'Only when no active process was found' })),
})

export const cancelRun = route(
  {
    method: 'delete',
    path: '/runs/{id}',
    tag: 'Runs',
    summary: 'Cancel a run and terminate its processes',
    description:
      'Waits up to 5 seconds for the process that owns the run to report what it killed; then the run is `cancelled` anyway, and whatever that process still writes is refused.',
    role: 'operator',
    params: RunPath,
    responses: { 200: Cancelled },
    errors: ['not_found', 'wrong_state'],
  },
  async (context, { params }) => {
    const { store, wake } = context
    const request = await store.runs.requestCancel(params.id)
    if (request === undefined) throw noRun(params.id)
    if (request.was === 'cancelled') return answer(request, 'The run was cancelled before')
    if (request.was === 'completed' || request.was === 'failed') throw ended(request.was)
    if (request.status === 'cancelled') return answer(request, NO_PROCESS)

    await signalCancel(context, [request.id])
    const run = await waitForEnd(store.runs, wake, request.runUuid, OWNER_MS)
    if (run?.status === 'completed' || run?.status === 'failed') throw ended(run.status)
    if (run?.status === 'cancelled') return reported(run)
    await store.runs.forceCancel(request.id)
    return answer(request, 'The process that owns the run did not answer; the stored status was updated')
  },
)

const NO_PROCESS = 'No active process was found; the stored status was updated'

const ended = (status: string): AppError => new AppError('wrong_state', `the run has ended: it is ${status}`)

const answer = ({ id, runUuid }: { id: number; runUuid: string }, note: string) => ({
  message: 'Run cancelled successfully',
  id,
  run_uuid: runUuid,
  note,
})

const reported = ({ id, run_uuid, killed_pids }: RunDetail) =>
  killed_pids.length === 0
    ? answer({ id, runUuid: run_uuid }, NO_PROCESS)
    : {
        message: 'Run cancelled successfully',
        id,
        run_uuid,
        killed_pids,
        processes_terminated: killed_pids.length,
        kill_method: 'registry' as const,
      }
