import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { AppError } from '@scanfarm/contracts'
import type { ImportFormat } from '../formats.ts'
import { batchesOf, type Batch } from './batches.ts'
import type { FromReader, ToReader } from './read-process.ts'
import { unreadable } from './unreadable.ts'

/** Most bytes of a file that is read in the process of the caller: it takes a few milliseconds. */
const MAX_INLINE = 64 * 1024

export interface ReadLimits {
  /** Time between two messages of the reading process. */
  readonly timeMs: number
  /** Memory for its objects. */
  readonly memoryMb: number
}

const LIMITS: ReadLimits = { timeMs: 60_000, memoryMb: 1024 }

/**
 * Reads a file of findings in batches, in its order. A file that is not of the format is refused (`invalid_input`); a
 * record that cannot be used is counted and passed over. A larger file is read in a process, so that it does not hold
 * up the event loop. A thread would not do: one that runs out of memory can end the whole process.
 */
export async function* readFindings(
  format: ImportFormat,
  body: AsyncIterable<Uint8Array>,
  limits: Partial<ReadLimits> = {},
): AsyncGenerator<Batch> {
  const chunks = body[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  try {
    let size = 0
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      first.push(next.value)
      size += next.value.length
      if (size <= MAX_INLINE) continue
      yield* inProcess(format, first, chunks, { ...LIMITS, ...limits })
      return
    }
    yield* batchesOf(format, fromList(first))
  } finally {
    await chunks.return?.()
  }
}

// eslint-disable-next-line @typescript-eslint/require-await -- a list as a stream
async function* fromList(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list
}

async function* inProcess(
  format: ImportFormat,
  first: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
  limits: ReadLimits,
): AsyncGenerator<Batch> {
  const reader = fork(new URL('read-process.ts', import.meta.url), [format], {
    env: {},
    execArgv: [`--max-old-space-size=${limits.memoryMb}`, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  // Without a listener, an error while no answer is awaited would end this process.
  reader.on('error', () => undefined)
  // A process that has ended does not answer: the next message from it says so.
  const say = (message: ToReader): void => void reader.send(message, () => undefined)
  try {
    for (;;) {
      const message = await answerOf(reader, limits)
      if (message.kind === 'done') return
      if (message.kind === 'refused') throw new AppError(message.code, message.message)
      if (message.kind === 'batch') {
        yield message.batch
        say({})
        continue
      }
      const early = first.shift()
      const next = early === undefined ? await rest.next() : { done: false, value: early }
      say(next.done === true ? {} : { bytes: next.value })
    }
  } finally {
    reader.kill('SIGKILL')
  }
}

/** The next message; an error when the process ends, or says nothing for too long. */
const answerOf = async (reader: ChildProcess, { timeMs, memoryMb }: ReadLimits): Promise<FromReader> => {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), timeMs)
  const ended = () => stop.abort()
  reader.once('exit', ended)
  if (reader.exitCode !== null || reader.signalCode !== null) stop.abort()
  try {
    const [message] = (await once(reader, 'message', { signal: stop.signal })) as [FromReader]
    return message
  } catch (error) {
    if (!stop.signal.aborted) throw error
    const problem = `it takes more than ${timeMs / 1000}s or ${memoryMb} MiB to read: split it`
    throw unreadable(problem, 'payload_too_large', error)
  } finally {
    clearTimeout(timer)
    reader.off('exit', ended)
  }
}
