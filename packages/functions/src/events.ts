import { EVENT_DATA_BYTES, EVENT_WORD_LENGTH } from '@scanfarm/contracts'
import type { Json } from '@scanfarm/language'
import { local, isObject, NoResult, type FunctionGroup, type Call } from './define.ts'
import { linesOf } from './files/lines.ts'

const parsed = (value: Json | undefined): Json => {
  let data: Json = value ?? null
  if (typeof value === 'string' && /^\s*[[{"]/.test(value)) {
    try {
      data = JSON.parse(value) as Json
    } catch {
      // Not JSON: the value stays a text.
    }
  }
  return isObject(data) ? data : { value: data }
}

const word = (name: string, text: string): string => {
  if (text === '') throw new NoResult(`an event needs a ${name}`)
  if (text.length > EVENT_WORD_LENGTH || /\p{Cc}/u.test(text))
    throw new Error(
      `the ${name} of an event has at most ${EVENT_WORD_LENGTH} characters and no control characters`,
    )
  return text
}

/** Returns the size of the data in bytes. */
const raise = (at: Call, given: Json | undefined): number => {
  const topic = word('topic', at.text(1))
  const source = word('source', at.text(2, 'workflow'))
  const dataType = word('data type', at.text(3, 'custom'))
  const data = parsed(given)
  const size = Buffer.byteLength(JSON.stringify(data))
  if (size > EVENT_DATA_BYTES)
    throw new Error(
      `the data of an event ${topic} has ${size} bytes of JSON, more than ${EVENT_DATA_BYTES}: save it as an artifact and send its name`,
    )
  at.recorder.event({ topic, name: topic, source, dataType, data })
  return size
}

/** Maximum number of events of one file and bytes of their data, which are in memory until they are recorded. */
const MAX_EVENTS = 100_000
const MAX_FILE_BYTES = 32 * 1024 * 1024

export const EVENT_FUNCTIONS: FunctionGroup = {
  title: 'Events',
  functions: [
    local(
      'generate_event(workspace, topic, source, data_type, data): true',
      'Emits an event; data other than an object becomes {value: …}.',
      (at) => {
        raise(at, at.args[4])
      },
    ),
    local(
      'generate_event_from_file(workspace, topic, source, data_type, path): number',
      'Emits an event for each non-empty line of a file; returns the number.',
      async (at) => {
        let count = 0
        let bytes = 0
        for await (const line of linesOf(at.path(4), at)) {
          if (line.trim() === '') continue
          if (count >= MAX_EVENTS) throw new Error(`more than ${MAX_EVENTS} events in one file`)
          bytes += raise(at, line.trim())
          if (bytes > MAX_FILE_BYTES)
            throw new Error(`the events of one file have more than ${MAX_FILE_BYTES} bytes of data`)
          count++
        }
        return count
      },
    ),
  ],
}
