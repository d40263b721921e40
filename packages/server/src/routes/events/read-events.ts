import { closed, EventLogEntry } from '@scanfarm/contracts'
import { isFeedPosition } from '@scanfarm/store'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { lastEvent, lastEventQuery, sendEvents } from '../../http/sent-events.ts'
import { refuseBadGlob } from '../../triggers/topics.ts'
import { pages } from '../../http/paging.ts'
import { aliased } from '../query.ts'
import { isEstablished } from '../../compat/runs.ts'

export const listEventLogs = route(
  {
    endpoint: 'GET /event-logs',
    summary: 'List the event log, newest first',
    role: 'viewer',
    ...pages(EventLogEntry, {
      topic: Type.Optional(Type.String({ description: 'A topic or a shell glob, for example run.*' })),
      name: Type.Optional(Type.String()),
      source: Type.Optional(Type.String()),
      workspace: Type.Optional(Type.String()),
      run_id: Type.Optional(Type.String({ description: 'run_uuid' })),
      run_uuid: Type.Optional(Type.String({ description: 'Alias of run_id' })),
      workflow_name: Type.Optional(Type.String()),
      workflow: Type.Optional(Type.String({ description: 'Alias of workflow_name' })),
      processed: Type.Optional(Type.Boolean()),
    }),
  },
  async ({ store }, { query, page, http }) => {
    const { topic, name, source, workspace, processed } = query
    refuseBadGlob(topic)
    const runId = aliased(query, 'run_id', 'run_uuid')
    const workflowName = aliased(query, 'workflow_name', 'workflow')
    const filter = { topic, name, source, workspace, runId, workflowName, processed }
    const found = await store.events.list(filter, page)
    if (!isEstablished(http.root)) return found
    const typed = found.data.map((event) => ({
      ...event,
      source_type: event.run_id === '' ? ('api' as const) : ('run' as const),
    }))
    return { ...found, data: typed }
  },
)

export const streamEvents = route(
  {
    endpoint: 'GET /events/stream',
    summary: 'Follow the event log as server-sent events',
    description:
      'Each event is an entry of the event log. A client that reconnects sends the id of the last received event as `Last-Event-ID` (browsers do so automatically) and continues without a gap. Without it the stream begins with new events. A reader that is too slow receives an event `cut` with the id to continue from, and the stream ends.',
    role: 'viewer',
    headers: { 'Last-Event-ID': 'Continue after this event' },
    query: closed({
      topic: Type.Optional(Type.String({ description: 'A topic or a shell glob, for example run.*' })),
      workspace: Type.Optional(Type.String()),
      run_id: Type.Optional(Type.String({ description: 'run_uuid' })),
      workflow_name: Type.Optional(Type.String()),
      ...lastEventQuery,
    }),
    responses: { 200: { media: ['text/event-stream'], description: 'An endless stream of events' } },
    errors: ['too_many_requests', 'unavailable'],
  },
  async ({ streams }, { query, caller, http }) => {
    const { topic, workspace, run_id: runId, workflow_name: workflowName } = query
    refuseBadGlob(topic)
    const after = lastEvent(http, query, (text) => (isFeedPosition(text) ? text : undefined))
    const filter = { topic, workspace, runId, workflowName }
    return sendEvents(await streams.open(`${caller.kind} ${caller.id}`, after, filter, http.signal()))
  },
)
