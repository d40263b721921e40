import { api } from '../../../api/client.ts'
import { Watched } from '../../../watched.ts'

export interface LogSource {
  /** `run_uuid`. */
  readonly run: string
  /** Id of a step; without it the log of the run. */
  readonly step?: string
  readonly attempt: number
  /** The log may still grow. */
  readonly grows: boolean
  /** The line to begin with, from 0; default: the first one. */
  readonly from?: number
}

export interface LogState {
  readonly phase: 'loading' | 'live' | 'reconnecting' | 'ended' | 'failed'
  /** The first line that is loaded; lines before it were passed over. */
  readonly first: number
  /** Lines of the log up to here, also those that were passed over. */
  readonly lines: number
  /** Bytes that are loaded, and those that exist. */
  readonly loaded: number
  readonly size: number
  readonly error: unknown
  /** What the reader must know, by the line before which it is shown. */
  readonly notices: ReadonlyMap<number, string>
}

/** The text is kept in blocks, so that a growing log is never copied. */
const BLOCK = 1024 * 1024
/** Bytes of one request. */
const PART = 4 * 1024 * 1024
/** Bounds of what a tab keeps. */
const MOST_BYTES = 256 * 1024 * 1024
const MOST_LINES = 5_000_000
/** The screen follows after this time. */
const NOTIFY_MS = 100
const NEWLINE = 10

const EMPTY: LogState = {
  phase: 'loading',
  first: 0,
  lines: 0,
  loaded: 0,
  size: 0,
  error: undefined,
  notices: new Map(),
}

/** Bytes without a character at their end that is not complete. */
const wholeCharacters = (bytes: Uint8Array): Uint8Array => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte > 0xf4 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/**
 * The text of one log: what there is of it is read in parts, then it is followed. It keeps bytes and the beginning of
 * each line, and decodes only lines that are shown or searched: a log of 100 MB stays usable.
 */
export class LogStore {
  readonly #source: LogSource
  readonly #decoder = new TextDecoder()
  #blocks: Uint8Array[] = []
  #starts = new Uint32Array(1024)
  #lines = 1
  #loaded = 0
  /** The line and the byte of the log at which the loaded bytes begin. */
  #first = 0
  #begin = 0
  #attempt: number
  #state = EMPTY
  /** The state that the screen knows. */
  readonly state = new Watched(EMPTY)
  #notifying: ReturnType<typeof setTimeout> | undefined

  constructor(source: LogSource) {
    this.#source = source
    this.#attempt = source.attempt
  }

  /** The text of a line of the log, from 0. */
  line(index: number): string {
    return this.text(index, index + 1)
  }

  /** Lines without the last newline. */
  text(from: number, to: number): string {
    const [start, after] = [from - this.#first, to - this.#first]
    const end = after < this.#lines ? (this.#starts[after] ?? 0) - 1 : this.#loaded
    return this.#decoder.decode(this.#read(this.#starts[start] ?? 0, end)).replace(/\n$/, '')
  }

  /** Reads until the log ends or the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      const complete = await this.#load(signal)
      if (!complete) await this.#follow(signal)
      this.#change({ phase: 'ended' })
    } catch (error) {
      if (!signal.aborted) this.#change({ phase: 'failed', error })
    }
  }

  /** What there is now. `true`: all of it. */
  async #load(signal: AbortSignal): Promise<boolean> {
    const { grows, from = 0 } = this.#source
    for (let line = from; ;) {
      const { bytes, kind, size, offset } = await this.#part(line, signal)
      if (line > 0) {
        // A log with fewer lines, or only its end, is shown from its beginning.
        const passesOver = kind !== 'tail' && bytes.length > 0
        if (passesOver) [this.#first, this.#begin] = [line, offset]
        line = 0
        if (!passesOver) continue
      }
      if (kind === 'tail') {
        // Its offsets are not those of the log: a log that grows is followed from its beginning.
        if (grows) return false
        this.#note(0, 'Only the end of this output was stored.')
      }
      this.#append(this.#end + bytes.length < size || kind === 'complete' ? bytes : wholeCharacters(bytes))
      this.#change({ size })
      if (this.#isFull()) return true
      if (bytes.length > 0 && this.#end + 4 <= size) continue
      if (kind === 'live' && !grows)
        this.#note(this.#count(), 'This is what the worker had stored of this output.')
      return kind === 'complete' || !grows
    }
  }

  /** The next part, or the one that begins with a line other than the first. */
  async #part(line: number, signal: AbortSignal) {
    const { run, step } = this.#source
    const query = { ...(line > 0 ? { line: line + 1 } : { offset: this.#end }), limit: PART }
    const options = { parseAs: 'arrayBuffer', signal } as const
    const { data, response } =
      step === undefined
        ? await api.GET('/runs/{id}/log', { params: { path: { id: run }, query }, ...options })
        : await api.GET('/runs/{id}/steps/{step_id}/log', {
            params: { path: { id: run, step_id: step }, query },
            ...options,
          })
    const bytes = new Uint8Array(data as ArrayBuffer)
    return {
      bytes,
      kind: response.headers.get('scanfarm-log') ?? 'complete',
      offset: Number(response.headers.get('scanfarm-log-offset') ?? 0),
      size: Number(response.headers.get('scanfarm-log-size') ?? bytes.length),
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { run, step } = this.#source
    const encoder = new TextEncoder()
    let next = this.#end
    this.#change({ phase: 'live' })
    const parts = api.followLog({
      run,
      ...(step === undefined ? {} : { step }),
      ...(next > 0 ? { lastEventId: `${this.#attempt}-${next}` } : {}),
      signal,
      reconnectWithinMs: Infinity,
      onConnection: (error) => this.#change({ phase: error ? 'reconnecting' : 'live' }),
    })
    for await (const { text, offset, attempt, position } of parts) {
      if (attempt !== this.#attempt) {
        this.#reset(attempt)
        next = 0
      }
      if (offset > next) this.#note(this.#count(), `${offset - next} bytes are missing here.`)
      next = Number(position.split('-')[1])
      this.#append(encoder.encode(text))
      if (this.#isFull()) return
    }
  }

  #isFull(): boolean {
    if (this.#loaded < MOST_BYTES && this.#lines < MOST_LINES) return false
    this.#note(this.#count(), 'The log is larger than the console shows. Download it to read the rest.')
    return true
  }

  /** The run was started again: its log begins again. */
  #reset(attempt: number): void {
    const before = this.#attempt
    this.#attempt = attempt
    this.#blocks = []
    this.#lines = 1
    this.#loaded = this.#first = this.#begin = 0
    this.#change({ notices: new Map(), size: 0 })
    this.#note(0, `Attempt ${attempt}. Attempt ${before} ended, and the run was started again.`)
    // At once: the old numbers of lines are not those of the new log.
    this.#notify()
  }

  #note(line: number, text: string): void {
    this.#change({ notices: new Map(this.#state.notices).set(line, text) })
  }

  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const place = this.#loaded % BLOCK
      if (place === 0) this.#blocks.push(new Uint8Array(BLOCK))
      const part = bytes.subarray(at, at + BLOCK - place)
      this.#blocks.at(-1)?.set(part, place)
      this.#index(part)
      this.#loaded += part.length
      at += part.length
    }
    if (bytes.length > 0) this.#change({})
  }

  #index(part: Uint8Array): void {
    for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) {
      if (this.#lines === this.#starts.length) {
        const larger = new Uint32Array(this.#lines * 2)
        larger.set(this.#starts)
        this.#starts = larger
      }
      this.#starts[this.#lines] = this.#loaded + at + 1
      this.#lines += 1
    }
  }

  #read(from: number, to: number): Uint8Array {
    const first = Math.floor(from / BLOCK)
    const start = first * BLOCK
    if (to <= start + BLOCK)
      return this.#blocks[first]?.subarray(from - start, to - start) ?? new Uint8Array()
    const all = new Uint8Array(to - from)
    for (let at = from; at < to;) {
      const place = at % BLOCK
      const part = this.#blocks[Math.floor(at / BLOCK)]?.subarray(place, place + to - at)
      if (part === undefined || part.length === 0) break
      all.set(part, at - from)
      at += part.length
    }
    return all
  }

  /** The byte of the log after the loaded ones. */
  get #end(): number {
    return this.#begin + this.#loaded
  }

  /** Lines up to here. A newline at the end does not begin a line. */
  #count(): number {
    const isBegun = this.#loaded > (this.#starts[this.#lines - 1] ?? 0)
    return this.#first + this.#lines - (isBegun ? 0 : 1)
  }

  #change(changes: Partial<LogState>): void {
    const { phase } = this.#state
    const size = Math.max(changes.size ?? this.#state.size, this.#end)
    const [first, lines, loaded] = [this.#first, this.#count(), this.#loaded]
    this.#state = { ...this.#state, ...changes, first, lines, loaded, size }
    if (this.#state.phase !== phase) this.#notify()
    else this.#notifying ??= setTimeout(() => this.#notify(), NOTIFY_MS)
  }

  #notify(): void {
    clearTimeout(this.#notifying)
    this.#notifying = undefined
    this.state.set(this.#state)
  }
}
