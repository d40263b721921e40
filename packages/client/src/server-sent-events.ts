/** One event of a stream; without data it only reports a position. */
export interface ServerSentEvent {
  /** `message` if the server names none. */
  readonly event: string
  readonly data: string | undefined
  /** The position in the stream: of this event, or else of the last one that had an id. */
  readonly id: string
  /** The delay before a client connects again, if the server sent one with this event. */
  readonly retryMs: number | undefined
}

/** The longest event; a longer one is not from this server. */
const MOST_CHARACTERS = 16 * 1024 * 1024

const LINE_END = /\r\n|\n|\r/

/** Splits text into lines. A line end may be cut between two pieces. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    const text = rest + piece
    // The second half of a line end may follow.
    const incomplete = text.endsWith('\r') ? 1 : 0
    const lines = text.slice(0, text.length - incomplete).split(LINE_END)
    rest = (lines.pop() ?? '') + text.slice(text.length - incomplete)
    if (rest.length > MOST_CHARACTERS)
      throw new Error(`a line of the stream exceeds ${MOST_CHARACTERS} characters`)
    yield* lines
  }
}

/** `ReadableStream` cannot be iterated in every browser. */
async function* piecesOf(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/**
 * Reads server-sent events as the HTML standard describes them. An event that is cut off at the end is dropped.
 * `onBytes` is called for everything that arrives, also for comments.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<ServerSentEvent> {
  let id = ''
  let event = ''
  let data: string[] = []
  let retryMs: number | undefined
  let any = false
  let size = 0
  for await (const line of linesOf(piecesOf(body, onBytes))) {
    if (line === '') {
      if (any)
        yield {
          event: event || 'message',
          data: data.length === 0 ? undefined : data.join('\n'),
          id,
          retryMs,
        }
      ;[event, data, retryMs, any, size] = ['', [], undefined, false, 0]
      continue
    }
    any = true
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'event') event = value
    else if (field === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
    else if (field === 'data') {
      data.push(value)
      size += value.length
      if (size > MOST_CHARACTERS) throw new Error(`an event exceeds ${MOST_CHARACTERS} characters`)
    }
  }
}
