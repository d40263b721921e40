import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import {
  attemptPrefix,
  isTerminal,
  LIVE_BLOCK_BYTES,
  liveBlockKey,
  liveFolder,
  RUN_LOG_NAME,
  type ArtifactStore,
  type ByteRange,
  type LogName,
} from '@scanfarm/contracts'
import type { LogState } from '@scanfarm/store'

/** Bytes of one read of a log. */
const READ_BYTES = 256 * 1024

/** What is known of a log at a moment. */
export interface LogContent {
  /** `complete`: all of it; `live`: what its worker has stored so far; `tail`: the last 16 KiB it reported. */
  readonly kind: 'complete' | 'live' | 'tail'
  readonly size: number
  read(range: ByteRange): Promise<Readable>
}

export const logName = ({ step }: LogState): LogName => step?.seq ?? 'run'

const prefixOf = ({ runUuid, attempt }: LogState): string => attemptPrefix(runUuid, attempt)

/** Nothing more is written to the log. */
export const isOver = ({ runStatus, step }: LogState): boolean =>
  step === undefined ? isTerminal(runStatus) : step.status !== 'pending' && step.status !== 'running'

/** Key of the complete log; `""`: the row of the step has its output. */
const finalKey = (state: LogState): string =>
  state.step === undefined ? `${prefixOf(state)}/${RUN_LOG_NAME}` : state.step.storeKey

/** In bytes of UTF-8. */
const LONGEST_CHARACTER = 4

/** The rest of the live block with the byte at `offset`; empty if it is not stored yet, or no more. */
export const readLive = async (
  artifacts: ArtifactStore,
  state: LogState,
  offset: number,
): Promise<Buffer> => {
  const range = { start: offset % LIVE_BLOCK_BYTES, end: LIVE_BLOCK_BYTES - 1 }
  const found = await artifacts.get(liveBlockKey(prefixOf(state), logName(state), offset), range)
  const bytes = found === undefined ? Buffer.alloc(0) : await buffer(found.body)
  // A character may continue in the next block.
  const isEnd = bytes.length < LONGEST_CHARACTER && range.start + bytes.length === LIVE_BLOCK_BYTES
  return isEnd ? Buffer.concat([bytes, await readLive(artifacts, state, offset + bytes.length)]) : bytes
}

/** A step with less output than this has all of it in its row, unless its worker was lost before it reported more. */
export const TAIL_BYTES = 16 * 1024 - 4

/** The step did not end by itself and has no stored log: its worker may have stored more than it has reported. */
const mayBeCut = ({ step }: LogState): boolean =>
  step !== undefined && step.storeKey === '' && (step.status === 'failed' || step.status === 'cancelled')

/** The next bytes of the log of an ended step or run, of the best form that is left of it; empty at its end. */
export const readEnded = async (
  artifacts: ArtifactStore,
  state: LogState,
  offset: number,
): Promise<Buffer> => {
  const output = Buffer.from(state.step?.output ?? '')
  const key = finalKey(state)
  if (key !== '') {
    const found = await artifacts.get(key, { start: offset, end: offset + READ_BYTES - 1 })
    if (found !== undefined) return await buffer(found.body)
  } else if (!mayBeCut(state)) return output.subarray(offset)
  const live = await readLive(artifacts, state, offset)
  if (live.length > 0) return live
  // Offsets do not apply to the tail of a longer log.
  return offset === 0 || (key === '' && output.length < TAIL_BYTES)
    ? output.subarray(offset)
    : Buffer.alloc(0)
}

export const hasFinal = async (artifacts: ArtifactStore, state: LogState): Promise<boolean> => {
  const key = finalKey(state)
  return key === '' || (await artifacts.size(key)) !== undefined
}

/** The best that there is of a log. */
export const contentOf = async (artifacts: ArtifactStore, state: LogState): Promise<LogContent> => {
  const key = finalKey(state)
  const size = isOver(state) && key !== '' ? await artifacts.size(key) : undefined
  if (size !== undefined)
    return {
      kind: 'complete',
      size,
      read: async (range) => (await artifacts.get(key, range))?.body ?? Readable.from([]),
    }
  const output = Buffer.from(state.step?.output ?? '')
  const read = async ({ start, end }: ByteRange): Promise<Readable> =>
    Readable.from([output.subarray(start, end + 1)])
  const isWhole = isOver(state) && state.step !== undefined && key === ''
  if (isWhole && !mayBeCut(state)) return { kind: 'complete', size: output.length, read }
  const live = await liveSize(artifacts, state)
  if (live > (isWhole ? output.length : 0))
    return {
      kind: 'live',
      size: live,
      read: async (range) => Readable.from(liveParts(artifacts, state, range)),
    }
  return { kind: isWhole && output.length < TAIL_BYTES ? 'complete' : 'tail', size: output.length, read }
}

const NEWLINE = 10

/** The offset at which a line begins; that of the end if there are fewer lines, or the client has gone. */
export const startOfLine = async (
  { size, read }: LogContent,
  line: number,
  gone: AbortSignal,
): Promise<number> => {
  if (line === 1 || size === 0) return 0
  let [begin, left] = [0, line - 1]
  for await (const part of (await read({ start: 0, end: size - 1 })) as AsyncIterable<Buffer>) {
    if (gone.aborted) break
    for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) {
      left -= 1
      if (left === 0) return begin + at + 1
    }
    begin += part.length
  }
  return size
}

const liveSize = async (artifacts: ArtifactStore, state: LogState): Promise<number> => {
  let last = -1
  for await (const { key } of artifacts.list(liveFolder(prefixOf(state), logName(state))))
    last = Math.max(last, Number(key.slice(key.lastIndexOf('/') + 1)))
  if (last < 0) return 0
  const start = last * LIVE_BLOCK_BYTES
  return start + ((await artifacts.size(liveBlockKey(prefixOf(state), logName(state), start))) ?? 0)
}

async function* liveParts(
  artifacts: ArtifactStore,
  state: LogState,
  { start, end }: ByteRange,
): AsyncGenerator<Buffer> {
  for (let at = start; at <= end;) {
    const bytes = (await readLive(artifacts, state, at)).subarray(0, end + 1 - at)
    if (bytes.length === 0) throw new Error('the live log was removed while it was read')
    at += bytes.length
    yield bytes
  }
}
