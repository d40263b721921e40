import { NullableTimestamp, page, Timestamp } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../http/route.ts'
import { refuseBadGlob } from '../loops/event-receiver/topics.ts'
import { aliased } from './alias.ts'
import { pageBody, pageQuery, pageRequest } from './paging.ts'

const EventLogEntry = Type.Object(
  {
    id: Type.Integer(),
    topic: Type.String(),
    event_id: Type.String(),
    name: Type.String(),
    source: Type.String(),
    data_type: Type.String(),
    data: Type.String({ description: 'JSON text' }),
    workspace: Type.String(),
    run_id: Type.String({ description: 'run_uuid, or ""' }),
    workflow_name: Type.String(),
    processed: Type.Boolean(),
    processed_at: NullableTimestamp,
    error: Type.String(),
    created_at: Timestamp,
  },
  { $id: 'EventLogEntry' },
)

export const listEventLogs = route(
  {
    method: 'get',
    path: '/event-logs',
    tag: 'Events',
    summary: 'List the event log, newest first',
    role: 'viewer',
    query: Type.Object(
      {
        topic: Type.Optional(Type.String({ description: 'A topic, or a shell glob such as run.*' })),
        name: Type.Optional(Type.String()),
        source: Type.Optional(Type.String()),
        workspace: Type.Optional(Type.String()),
        run_id: Type.Optional(Type.String({ description: 'run_uuid' })),
        run_uuid: Type.Optional(Type.String({ description: 'Other name of run_id' })),
        workflow_name: Type.Optional(Type.String()),
        workflow: Type.Optional(Type.String({ description: 'Other name of workflow_name' })),
        processed: Type.Optional(Type.Boolean()),
        ...pageQuery,
      },
      { additionalProperties: false },
    ),
    responses: { 200: page(EventLogEntry) },
    errors: ['invalid_input'],
  },
  async ({ store }, { query }) => {
    const { topic, name, source, workspace, processed } = query
    refuseBadGlob(topic)
    const runId = aliased(query, 'run_id', 'run_uuid')
    const workflowName = aliased(query, 'workflow_name', 'workflow')
    const request = pageRequest(query)
    const filter = { topic, name, source, workspace, runId, workflowName, processed }
    return pageBody(await store.events.list(filter, request), request)
  },
)
