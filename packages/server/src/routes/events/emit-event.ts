import {
  AppError,
  dataTypeOf,
  EmitEvent,
  EVENT_DATA_BYTES,
  EventEmitted,
  SYSTEM_SOURCES,
} from '@scanfarm/contracts'
import { refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import type { EventReceiver } from '../../triggers/event-receiver.ts'
import { newEvent } from '../../triggers/plan-event.ts'

/** An operator has to change the settings first. */
const OFF_RETRY_SECONDS = 60

/** Throws if this server processes no events. */
export const refuseWithoutReceiver = ({ enabled }: EventReceiver): void => {
  if (!enabled)
    throw new AppError(
      'unavailable',
      'the event receiver is disabled: set scheduler.enabled to true in the settings',
      { retryAfter: OFF_RETRY_SECONDS },
    )
}

/** The event log, triggers, streams and runs each store a copy. */
export const refuseLargeData = (data: string): void => {
  const size = Buffer.byteLength(data)
  if (size <= EVENT_DATA_BYTES) return
  const message = `has ${size} bytes of JSON, more than the limit of ${EVENT_DATA_BYTES}: store large content as an artifact or a file and send its location`
  refuse([{ path: '/data', message }], 'payload_too_large')
}

/** The source given by the caller; the names of internal sources are reserved. */
const sourceOf = (text = ''): string => {
  const source = text.trim() === '' ? 'api' : text.trim()
  if (SYSTEM_SOURCES.includes(source.toLowerCase()))
    refuse([
      {
        path: '/source',
        message: `must not be ${source}, which is reserved for events of the farm: send the name of the tool or client`,
      },
    ])
  return source
}

export const emitEvent = route(
  {
    endpoint: 'POST /events/emit',
    summary: 'Emit an event and start the workflows that it triggers',
    description:
      'Filters and dedupe windows are evaluated before the answer: `triggered_workflows` lists the workflows that got runs.',
    role: 'operator',
    body: EmitEvent,
    anyText: true,
    responses: { 200: EventEmitted },
    errors: ['payload_too_large', 'unavailable'],
  },
  async ({ receiver, notifier }, { body, http }) => {
    refuseWithoutReceiver(receiver)
    const { topic } = body
    const data = JSON.stringify(body.data)
    refuseLargeData(data)
    const event = newEvent({
      topic,
      name: body.name ?? topic,
      source: sourceOf(body.source),
      data_type: body.data_type ?? dataTypeOf(topic),
      data,
    })
    const fired = await receiver.emit(event, http.signal())
    const names = [...new Set(fired)].sort()
    if (names.length > 0) notifier.notify()
    return {
      message: 'Event emitted successfully',
      topic,
      event_id: event.event_id,
      triggered_workflows: names,
      success: true as const,
      ...(names.length === 0 ? { note: 'No workflow was triggered by this event' } : {}),
    }
  },
)
