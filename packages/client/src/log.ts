import { follow, type StreamOptions } from './stream.ts'
import type { Transport } from './transport.ts'

/** Output of a step. */
export interface LogPart {
  readonly text: string
  /** Where it begins in the output of the attempt, in bytes. */
  readonly offset: number
  /** Counts from 1; the output of a later attempt begins at offset 0 again. */
  readonly attempt: number
  /** Pass it as `lastEventId` to continue after this part. */
  readonly position: string
}

export interface LogOptions extends StreamOptions {
  /** Number or `run_uuid`. */
  readonly run: string | number
  readonly step: string
}

const attemptOf = (position: string): number => Number(position.split('-')[0])

/** The output of a step from its beginning, or from a position, while the step runs. Ends with the step. */
export async function* logOf(transport: Transport, options: LogOptions): AsyncGenerator<LogPart> {
  const { run, step } = options
  const params = { path: { id: run, step_id: step }, query: { follow: true } }
  const parts = follow(
    transport,
    '/runs/{id}/steps/{step_id}/log',
    { params },
    options,
    ({ event }) => event === 'end',
  )
  for await (const { event, data, id } of parts) {
    if (event !== 'message' || data === undefined) continue
    const { text, offset } = JSON.parse(data) as { text: string; offset: number }
    yield { text, offset, attempt: attemptOf(id), position: id }
  }
}
