import type { Readable } from 'node:stream'
import type { ArtifactStore } from '@scanfarm/contracts'
import { errorText, pause, type Logger } from '@scanfarm/platform'
import type { LogState, Store } from '@scanfarm/store'
import { firstFrame, frame, SentEvents, type Turn } from '../../../http/sent-events.ts'
import { contentOf, isOver, readEnded, readLive, TAIL_BYTES, type LogContent } from './log-files.ts'
import { LogReader } from './log-reader.ts'

/** Bytes of a log in one event. */
const FRAME_BYTES = 32 * 1024
/** Workers store live logs for this long after the last renewal. */
const FOLLOW_MS = 15_000
const RENEW_MS = 5_000
/** Longest wait for live logs that no client reads, and the time between two polls. */
const FIRST_MS = 2_000
const FIRST_POLL_MS = 100
/** A position in a log: an attempt, and the number of bytes before it. */
export interface LogPosition {
  readonly attempt: number
  readonly offset: number
}

export interface LogStreamsParts {
  readonly runs: Pick<Store['runs'], 'logAgain' | 'logInLatest' | 'followLogs'>
  readonly artifacts: ArtifactStore
  readonly log: Logger
  /** Asks the workers of these runs to read in the database what is wanted. */
  signalRuns(runIds: readonly number[]): Promise<void>
}

/** Follows logs of runs and steps while they grow. Each log is read once for all of its followers. */
export class LogStreams implements Disposable {
  readonly #parts: LogStreamsParts
  readonly #readers = new Map<string, { readonly reader: LogReader; followers: number }>()
  readonly #streams = new SentEvents({
    what: 'streams of logs',
    ofCaller: 20,
    total: 400,
    advice: 'close one',
  })
  #renewing: NodeJS.Timeout | undefined

  constructor(parts: LogStreamsParts) {
    this.#parts = parts
  }

  /** Server-sent events with the bytes after a position. Throws if there are too many streams. */
  async open(
    caller: string,
    state: LogState,
    after: LogPosition | undefined,
    gone: AbortSignal,
  ): Promise<Readable> {
    return await this.#streams.open(caller, gone, async (closed) => {
      const first = await this.#begin(state, after)
      if (!isOver(first) && !this.#readers.has(keyOf(first))) await this.#follow(first.runId)
      return this.#turns(first, after ?? { attempt: state.attempt, offset: 0 }, closed)
    })
  }

  /** What there is of a log now. The output of a running step is asked of its worker. */
  async content(state: LogState): Promise<LogContent> {
    const { artifacts } = this.#parts
    const content = await contentOf(artifacts, state)
    if (content.kind !== 'tail' || content.size < TAIL_BYTES || isOver(state)) return content
    await this.#follow(state.runId)
    for (const until = performance.now() + FIRST_MS; performance.now() < until;) {
      await pause(FIRST_POLL_MS)
      const live = await contentOf(artifacts, state)
      if (live.kind !== 'tail') return live
    }
    return content
  }

  /** The client has read a later attempt than that of the step that it named. */
  async #begin(state: LogState, after: LogPosition | undefined): Promise<LogState> {
    if (after === undefined || after.attempt <= state.attempt) return state
    return (await this.#parts.runs.logInLatest(state)) ?? state
  }

  async #follow(runId: number): Promise<void> {
    await this.#parts.runs.followLogs([runId], FOLLOW_MS)
    await this.#parts.signalRuns([runId])
  }

  #join(state: LogState, offset: number): { readonly reader: LogReader } & Disposable {
    const key = keyOf(state)
    const entry = this.#readers.get(key) ?? {
      reader: new LogReader(this.#parts, state, offset),
      followers: 0,
    }
    this.#readers.set(key, entry)
    entry.followers += 1
    const joined = entry.reader.join()
    this.#renewing ??= setInterval(() => void this.#renew(), RENEW_MS).unref()
    return {
      reader: entry.reader,
      [Symbol.dispose]: () => {
        joined[Symbol.dispose]()
        entry.followers -= 1
        if (entry.followers === 0) this.#readers.delete(key)
        if (this.#readers.size > 0) return
        clearInterval(this.#renewing)
        this.#renewing = undefined
      },
    }
  }

  async #renew(): Promise<void> {
    const runIds = new Set<number>()
    for (const { reader } of this.#readers.values()) if (!reader.settled) runIds.add(reader.state.runId)
    if (runIds.size === 0) return
    await this.#parts.runs.followLogs([...runIds], FOLLOW_MS).catch((error: unknown) => {
      this.#parts.log.warn('followed logs could not be renewed', { reason: errorText(error) })
    })
  }

  async *#turns(first: LogState, after: LogPosition, closed: AbortSignal): AsyncGenerator<Turn> {
    const { artifacts } = this.#parts
    let { attempt } = after
    let offset = attempt === first.attempt ? after.offset : 0
    using joined = this.#join(first, offset)
    const { reader } = joined
    yield firstFrame(`${attempt}-${offset}`)
    let from = first
    while (!closed.aborted) {
      const { state, settled } = reader
      if (state.attempt !== attempt) {
        // A slow client has not seen the end of the attempt that was lost.
        for (; attempt === from.attempt;) {
          const rest = await readLive(artifacts, from, offset)
          if (rest.length === 0) break
          yield* textFrames(attempt, offset, rest)
          offset += rest.length
        }
        from = state
        attempt = state.attempt
        offset = 0
        yield attemptFrame(state)
      }
      const kept = settled ? undefined : reader.next(offset)
      let bytes: Buffer | undefined
      if (kept === 'behind') bytes = await readLive(artifacts, state, offset)
      else bytes = kept ?? (await readEnded(artifacts, state, offset))
      // Bytes of another attempt: the reader has moved on meanwhile.
      if (reader.state.attempt !== attempt) continue
      const whole = settled && bytes.length < 4 ? bytes.length : wholeCharacters(bytes)
      yield* textFrames(attempt, offset, bytes.subarray(0, whole))
      offset += whole
      if (settled && whole === 0) {
        yield endFrame(state, offset)
        return
      }
      if (whole === 0 && settled === reader.settled)
        yield { position: `${attempt}-${offset}`, news: reader.news }
    }
  }

  [Symbol.dispose](): void {
    this.#streams[Symbol.dispose]()
    clearInterval(this.#renewing)
  }
}

const keyOf = ({ runId, attempt, step }: LogState): string => `${runId}/${attempt}/${step?.seq ?? ''}`

/** The text of these bytes, in events that are cut between characters. */
function* textFrames(attempt: number, offset: number, bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length;) {
    const part = bytes.subarray(at, at + FRAME_BYTES)
    const length = at + part.length < bytes.length ? wholeCharacters(part) : part.length
    at += length
    yield frame(`${attempt}-${offset + at}`, {
      offset: offset + at - length,
      text: part.subarray(0, length).toString('utf8'),
    })
  }
}

const attemptFrame = ({ attempt, step }: LogState): string =>
  frame(`${attempt}-0`, { attempt, ...(step && { step_id: step.id }) }, 'attempt')

const endFrame = ({ attempt, runStatus, step }: LogState, offset: number): string =>
  frame(
    `${attempt}-${offset}`,
    { status: step?.status ?? runStatus, ...(step && { exit_code: step.exitCode }), size: offset },
    'end',
  )

/** How many of these bytes are whole characters: the last one may not have been written completely. */
export const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte > 0xf4 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
