import { AppError } from '@scanfarm/contracts'
import { isFeedPosition } from '@scanfarm/store'
import { Type } from 'typebox'
import { bytes } from '../http/answer.ts'
import { route } from '../http/route.ts'
import { refuseBadGlob } from '../loops/event-receiver/topics.ts'

const positionOf = (text: string | undefined, path: string): string | undefined => {
  if (text === undefined || text === '' || isFeedPosition(text)) return text || undefined
  throw new AppError('invalid_input', `${path.slice(1)}: is not the id of an event of this stream`, {
    details: [{ path, message: 'must be the id of an event of this stream' }],
  })
}

export const streamEvents = route(
  {
    method: 'get',
    path: '/events/stream',
    tag: 'Events',
    summary: 'Follow the event log as server-sent events',
    description:
      'Each event is an entry of the event log. A client that was cut off sends the id of the last event it has seen as `Last-Event-ID` (browsers do so by themselves) and goes on without a gap. Without it the stream begins now. A reader that is too slow gets an event `cut` with the id to go on from, and the stream ends.',
    role: 'viewer',
    headers: { 'Last-Event-ID': 'Go on after this event' },
    query: Type.Object(
      {
        topic: Type.Optional(Type.String({ description: 'A topic, or a shell glob such as run.*' })),
        workspace: Type.Optional(Type.String()),
        run_id: Type.Optional(Type.String({ description: 'run_uuid' })),
        workflow_name: Type.Optional(Type.String()),
        last_event_id: Type.Optional(
          Type.String({ description: 'For clients that cannot set the header; the header wins' }),
        ),
      },
      { additionalProperties: false },
    ),
    responses: { 200: { media: ['text/event-stream'], description: 'Events without end' } },
    errors: ['invalid_input', 'too_many_requests', 'unavailable'],
  },
  async ({ streams }, { query, caller, http }) => {
    const { topic, workspace, run_id: runId, workflow_name: workflowName } = query
    refuseBadGlob(topic)
    const header = http.headers['last-event-id']
    const after =
      positionOf(typeof header === 'string' ? header : undefined, '/Last-Event-ID') ??
      positionOf(query.last_event_id, '/last_event_id')
    const filter = {
      ...(topic === undefined ? {} : { topic }),
      ...(workspace === undefined ? {} : { workspace }),
      ...(runId === undefined ? {} : { runId }),
      ...(workflowName === undefined ? {} : { workflowName }),
    }
    return bytes(200, await streams.open(`${caller.kind} ${caller.id}`, after, filter, http.signal()), {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no',
    })
  },
)
