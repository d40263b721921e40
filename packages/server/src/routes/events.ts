import { randomUUID } from 'node:crypto'
import { AppError, dataTypeOf, EmitEvent, EventEmitted, SYSTEM_SOURCES } from '@scanfarm/contracts'
import { refuse } from '../http/field-refusal.ts'
import { route } from '../http/route.ts'
import type { EventReceiver } from '../loops/event-receiver/receiver.ts'

/** Somebody has to change the settings first. */
const OFF_RETRY_SECONDS = 60

/** Refuses when this server takes no events. */
export const refuseWithoutReceiver = ({ enabled }: EventReceiver): void => {
  if (!enabled)
    throw new AppError(
      'unavailable',
      'the event receiver is off: set event_receiver.enabled to true in the settings',
      { retryAfter: OFF_RETRY_SECONDS },
    )
}

/** The event log, triggers, streams and runs all hold copies of it. */
export const refuseLargeData = (data: string, maxBytes: number): void => {
  const size = Buffer.byteLength(data)
  if (size <= maxBytes) return
  const message = `has ${size} bytes of JSON, more than the ${maxBytes} that event_receiver.data_bytes allows: put large content into an artifact or a file and send its address`
  refuse([{ path: '/data', message }], 'payload_too_large')
}

/** What a caller says of itself, but never that the farm says it. */
const sourceOf = (text = ''): string => {
  const source = text.trim() === '' ? 'api' : text.trim()
  if (SYSTEM_SOURCES.includes(source.toLowerCase()))
    refuse([
      {
        path: '/source',
        message: `must not be ${source}, which only events of the farm itself have: name the tool or client that sends it`,
      },
    ])
  return source
}

export const emitEvent = route(
  {
    method: 'post',
    path: '/events/emit',
    tag: 'Events',
    summary: 'Emit an event and start the workflows that wait for it',
    description:
      'Filters and dedupe windows of triggers are evaluated before the answer: `triggered_workflows` are those that got runs.',
    role: 'operator',
    body: EmitEvent,
    anyText: true,
    responses: { 200: EventEmitted },
    errors: ['invalid_input', 'payload_too_large', 'unavailable'],
  },
  async ({ receiver, wake, config }, { body, http }) => {
    refuseWithoutReceiver(receiver)
    const { topic } = body
    const data = JSON.stringify(body.data)
    refuseLargeData(data, config.eventReceiver.dataBytes)
    const eventId = `evt_${randomUUID().replaceAll('-', '')}`
    const fired = await receiver.emit(
      {
        topic,
        eventId,
        name: body.name ?? topic,
        source: sourceOf(body.source),
        dataType: body.data_type ?? dataTypeOf(topic),
        data,
        workspace: '',
        runId: '',
        workflowName: '',
      },
      http.signal(),
    )
    const names = [...new Set(fired)].sort()
    if (names.length > 0) wake.ring()
    return {
      message: 'Event emitted successfully',
      topic,
      event_id: eventId,
      triggered_workflows: names,
      success: true as const,
      ...(names.length === 0 ? { note: 'No workflow was triggered by this event' } : {}),
    }
  },
)
