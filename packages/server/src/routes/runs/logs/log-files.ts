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
  /**
   * `complete`: all of it; `live`: all that its worker has stored so far; `tail`: the last 16 KiB that its worker has
   * reported.
   */
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

/** The next bytes of the complete log of an ended step or run; empty at its end, undefined if it is not stored. */
export const readFinal = async (
  artifacts: ArtifactStore,
  state: LogState,
  offset: number,
): Promise<Buffer | undefined> => {
  const key = finalKey(state)
  if (key === '') return Buffer.from(state.step?.output ?? '').subarray(offset)
  const found = await artifacts.get(key, { start: offset, end: offset + READ_BYTES - 1 })
  return found && (await buffer(found.body))
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
  if (isOver(state) && state.step !== undefined && key === '')
    return { kind: 'complete', size: output.length, read }
  const live = await liveSize(artifacts, state)
  if (live > 0)
    return {
      kind: 'live',
      size: live,
      read: async (range) => Readable.from(liveParts(artifacts, state, range)),
    }
  return { kind: 'tail', size: output.length, read }
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
