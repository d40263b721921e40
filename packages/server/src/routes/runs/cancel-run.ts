import { isTerminal, RunStatus, type RunDetail } from '@scanfarm/contracts'
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
  status: Type.Optional(RunStatus),
})

export const cancelRun = route(
  {
    method: 'delete',
    path: '/runs/{id}',
    tag: 'Runs',
    summary: 'Cancel a run and terminate its processes',
    description:
      'Waits up to 5 seconds for the process that owns the run to report what it killed; then the run is `cancelled` anyway, and whatever that process still writes is refused. A run that has ended stays as it is: the answer carries its `status` and a `note`.',
    role: 'operator',
    params: RunPath,
    responses: { 200: Cancelled },
    errors: ['not_found'],
  },
  async (context, { params }) => {
    const { store, wake } = context
    const request = await store.runs.requestCancel(params.id)
    if (request === undefined) throw noRun(params.id)
    if (isTerminal(request.was)) return ended(request, request.was)
    if (request.status === 'cancelled') return answer(request, NO_PROCESS)

    await signalCancel(context, [request.id])
    const run = await waitForEnd(store.runs, wake, request.runUuid, OWNER_MS)
    if (run?.status === 'cancelled') return reported(run)
    if (run !== undefined && isTerminal(run.status)) return ended(request, run.status)
    await store.runs.forceCancel(request.id)
    return answer(request, 'The process that owns the run did not answer; the stored status was updated')
  },
)

const NO_PROCESS = 'No active process was found; the stored status was updated'

interface Identity {
  readonly id: number
  readonly runUuid: string
}

const answer = ({ id, runUuid }: Identity, note: string) => ({
  message: 'Run cancelled successfully',
  id,
  run_uuid: runUuid,
  note,
})

/** As clients of the established API expect: there is nothing to stop, and nothing changes. */
const ended = (run: Identity, status: RunStatus) => ({
  ...answer(run, status === 'cancelled' ? 'The run was cancelled before' : 'The run had ended before'),
  ...(status === 'cancelled' ? {} : { message: `Nothing to cancel: the run is ${status}` }),
  status,
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
