import type { components } from './schema.ts'
import { follow, type StreamOptions } from './stream.ts'
import type { Transport } from './transport.ts'

/** An entry of the event log. */
export type FarmEvent = components['schemas']['EventLogEntry'] & {
  /** Pass it as `lastEventId` to continue after this event. */
  readonly position: string
}

export interface EventsOptions extends StreamOptions {
  /** A topic or a shell glob, for example `run.*`. */
  readonly topic?: string
  readonly workspace?: string
  /** The `run_uuid` of a run. */
  readonly runId?: string
  readonly workflowName?: string
}

/** The events of the farm from now on, or from a position. */
export async function* eventsOf(
  transport: Transport,
  options: EventsOptions = {},
): AsyncGenerator<FarmEvent> {
  const { topic, workspace, runId, workflowName } = options
  const query = { topic, workspace, run_id: runId, workflow_name: workflowName }
  for await (const { data, id } of follow(transport, '/events/stream', { params: { query } }, options))
    if (data !== undefined)
      yield { ...(JSON.parse(data) as components['schemas']['EventLogEntry']), position: id }
}
