import type { ServerSentEvent } from './server-sent-events.ts'
import { follow, type StreamOptions } from './stream.ts'
import type { Transport } from './transport.ts'

/** A part of the log of a run, or of the output of a step. */
export interface LogPart {
  readonly text: string
  /** Where it begins in the log of the attempt, in bytes. */
  readonly offset: number
  /** Counts from 1; the log of a later attempt begins at offset 0 again. */
  readonly attempt: number
  /** Pass it as `lastEventId` to continue after this part. */
  readonly position: string
}

export interface LogOptions extends StreamOptions {
  /** Number or `run_uuid`. */
  readonly run: string | number
  /** Id of a step; without it the log of the run is read. */
  readonly step?: string
}

const attemptOf = (position: string): number => Number(position.split('-')[0])

/** The log of a run, or the output of a step, from a position on, while it grows. Ends with run or step. */
export async function* logOf(transport: Transport, options: LogOptions): AsyncGenerator<LogPart> {
  const { run, step } = options
  const isEnd = ({ event }: ServerSentEvent): boolean => event === 'end'
  const query = { follow: true }
  const parts =
    step === undefined
      ? follow(transport, '/runs/{id}/log', { params: { path: { id: run }, query } }, options, isEnd)
      : follow(
          transport,
          '/runs/{id}/steps/{step_id}/log',
          { params: { path: { id: run, step_id: step }, query } },
          options,
          isEnd,
        )
  for await (const { event, data, id } of parts) {
    if (event !== 'message' || data === undefined) continue
    const { text, offset } = JSON.parse(data) as { text: string; offset: number }
    yield { text, offset, attempt: attemptOf(id), position: id }
  }
}
