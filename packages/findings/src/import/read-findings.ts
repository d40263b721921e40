import { fork } from 'node:child_process'
import { on } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { AppError, MAX_IMPORT_PROBLEMS } from '@scanfarm/contracts'
import type { ImportFormat } from '../formats.ts'
import { batchesOf, type Batch } from './batches.ts'
import { formatOfHead, formatOfStart, notRecognised, refusePacked } from './guess-format.ts'
import { beginsWithObject, MAX_INLINE, ObjectLines } from './object-lines.ts'
import type { FromReader } from './read-process.ts'
import { rejoined, unreadable } from './read-body.ts'
import { Replay } from './replay.ts'
import { withSettledFolder, type KnownFolder } from './settle-folder.ts'

export interface ReadLimits {
  /** Time limit between two messages of the reading process. */
  readonly timeMs: number
  /** Memory limit of the reading process. */
  readonly memoryMb: number
}

const LIMITS: ReadLimits = { timeMs: 60_000, memoryMb: 1024 }

/** Formats of which a line is a whole record. An empty list between lines is none. */
const LINES: ReadonlySet<ImportFormat> = new Set(['nuclei', 'jsonl'])

/**
 * Reads a file of findings in batches, in order. A file that does not match its format is refused (`invalid_input`);
 * unusable records are counted and skipped. Larger files are read in a separate process, so that they do not block the
 * event loop, but for short lines of objects: to take their records from another process costs as much as to read them.
 * A thread is not enough: one that runs out of memory can end the whole process.
 */
export async function* readFindings(
  format: ImportFormat,
  body: AsyncIterable<Uint8Array>,
  { root = '', ...limits }: Partial<ReadLimits> & { readonly root?: string | undefined } = {},
): AsyncGenerator<Batch> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    const { first, isWhole } = await start(chunks, MAX_INLINE)
    refusePacked(Buffer.concat(first))
    const whole = rejoined(first, chunks)
    const inProcess = (bytes: AsyncGenerator<Uint8Array>) =>
      readAhead(readInProcess([format, root], bytes, { ...LIMITS, ...limits }))
    if (isWhole) yield* batchesOf(format, whole, root)
    else if (LINES.has(format) && beginsWithObject(Buffer.concat(first)))
      yield* readLines(format, root, whole, inProcess)
    else yield* inProcess(whole)
  } finally {
    await chunks.return?.()
  }
}

/**
 * Opens a report whose format need not be named. `root`: the folder that was scanned, for absolute paths of files; `known`
 * tells the folder of known findings if nothing names it.
 */
export const openReport = async (
  named: ImportFormat | undefined,
  body: AsyncIterable<Uint8Array>,
  root?: string,
  known?: KnownFolder,
): Promise<{ format: ImportFormat; batches: AsyncIterable<Batch> }> => {
  const { format, batches } = await openAsNamed(named, body, root)
  return { format, batches: known === undefined ? batches : withSettledFolder(batches, known) }
}

const openAsNamed = async (
  format: ImportFormat | undefined,
  body: AsyncIterable<Uint8Array>,
  root: string | undefined,
): Promise<{ format: ImportFormat; batches: AsyncIterable<Batch> }> => {
  if (format !== undefined) return { format, batches: readFindings(format, body, { root }) }
  const chunks = body[Symbol.asyncIterator]()
  // Mostly enough to recognise the format.
  const { first, isWhole } = await start(chunks, MAX_INLINE)
  const replay = new Replay()
  try {
    const head = Buffer.concat(first)
    const ofHead = formatOfHead(head)
    if (ofHead !== undefined)
      return { format: ofHead, batches: readFindings(ofHead, rejoined(first, chunks), { root }) }
    // The fields that tell the format may stand behind a long list.
    const read = rejoined(first, { next: () => chunks.next() })
    const guessed = isWhole ? undefined : await formatOfStart(head, replay.first(read))
    if (guessed === undefined) throw notRecognised()
    return { format: guessed, batches: readFindings(guessed, replayed(replay, chunks), { root }) }
  } catch (error) {
    await chunks.return?.()
    await replay[Symbol.asyncDispose]()
    throw error
  }
}

/** What was read of a body, and the rest. */
async function* replayed(replay: Replay, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* replay.again()
    yield* rejoined([], rest)
  } finally {
    await rest.return?.()
    await replay[Symbol.asyncDispose]()
  }
}

/** The first chunks, until they have more than a number of bytes. */
const start = async (
  chunks: AsyncIterator<Uint8Array>,
  bytes: number,
): Promise<{ first: Uint8Array[]; isWhole: boolean }> => {
  const first: Uint8Array[] = []
  let size = 0
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    first.push(next.value)
    size += next.value.length
    if (size > bytes) return { first, isWhole: false }
  }
  return { first, isWhole: true }
}

/** Requests each batch while the caller saves the one before. */
async function* readAhead(batches: AsyncGenerator<Batch>): AsyncGenerator<Batch> {
  try {
    for (let next = batches.next(); ;) {
      const result = await next
      if (result.done === true) return
      next = batches.next()
      // Reported when the caller asks for it.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await batches.return(undefined)
  }
}

/** Reads lines of objects here, and what follows them in a process. */
async function* readLines(
  format: ImportFormat,
  root: string,
  body: AsyncGenerator<Uint8Array>,
  inProcess: (bytes: AsyncGenerator<Uint8Array>) => AsyncIterable<Batch>,
): AsyncGenerator<Batch> {
  const lines = new ObjectLines()
  const all = async function* () {
    yield* batchesOf(format, lines.read(body), root)
    if (!lines.areAll) yield* inProcess(lines.rest(body))
  }
  let told = 0
  for await (const batch of all()) {
    batch.problems.splice(MAX_IMPORT_PROBLEMS - told)
    told += batch.problems.length
    yield batch
  }
}

async function* readInProcess(
  args: readonly [ImportFormat, string],
  bytes: AsyncGenerator<Uint8Array>,
  { timeMs, memoryMb }: ReadLimits,
): AsyncGenerator<Batch> {
  const cache = getCompileCacheDir()
  const reader = fork(new URL('read-process.ts', import.meta.url), args, {
    // The folder of this version of Node is in the one that the variable names.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
    // Parts of a report live shortly: a small young heap halves the memory, at the same speed.
    execArgv: [
      `--max-old-space-size=${memoryMb}`,
      '--max-semi-space-size=2',
      '--disable-warning=ExperimentalWarning',
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  // The channel ends behind the last message, however the process ends.
  const messages = on(reader, 'message', { close: ['disconnect'] })
  // Ignore errors: the next read reports that the process has ended.
  const say = (message: Uint8Array | false): void => void reader.send(message, () => undefined)
  try {
    for (;;) {
      const timer = setTimeout(() => reader.kill('SIGKILL'), timeMs)
      const answer = await messages.next().finally(() => clearTimeout(timer))
      const problem = `it takes more than ${timeMs / 1000}s or ${memoryMb} MiB to read: split it`
      if (answer.done === true) throw unreadable(problem, 'payload_too_large')
      const [message] = answer.value as [FromReader]
      if (message.kind === 'done') return
      if (message.kind === 'refused') throw new AppError(message.code, message.message)
      if (message.kind === 'batch') {
        yield message.batch
        say(false)
        continue
      }
      const next = await bytes.next()
      say(next.done !== true && next.value)
    }
  } finally {
    reader.kill('SIGKILL')
  }
}
