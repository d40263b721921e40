import type { Json } from '../model.ts'
import { fn, isObject, textArg, type FunctionContext, type FunctionGroup } from './define.ts'
import { linesOf } from './lines.ts'
import { pathArg } from './files.ts'

const parsed = (value: Json | undefined): Json => {
  let data: Json = value ?? null
  if (typeof value === 'string' && /^\s*[[{"]/.test(value)) {
    try {
      data = JSON.parse(value) as Json
    } catch {
      // A text that only looks like JSON is a text.
    }
  }
  return isObject(data) ? data : { value: data }
}

const raise = (args: readonly Json[], data: Json | undefined, { recorder }: FunctionContext): void => {
  const topic = textArg(args, 1)
  if (topic === '') throw new Error('an event needs a topic')
  recorder.event({
    topic,
    name: topic,
    source: textArg(args, 2, 'executor'),
    dataType: textArg(args, 3, 'custom'),
    data: parsed(data),
  })
}

/** Events that one file may raise. */
const MAX_EVENTS = 100_000

export const EVENT_FUNCTIONS: FunctionGroup = {
  title: 'Events',
  functions: [
    fn(
      'generate_event(workspace, topic, source, data_type, data)',
      'true',
      'Raises an event; data that is no object becomes {value: …}.',
      (args, at) => {
        raise(args, args[4], at)
        return true
      },
    ),
    fn(
      'generate_event_from_file(workspace, topic, source, data_type, path)',
      'number',
      'Raises an event for each non-empty line of a file; answers how many.',
      async (args, at) => {
        let count = 0
        for await (const line of linesOf(pathArg(args, 4, at), at)) {
          if (line.trim() === '') continue
          if (count >= MAX_EVENTS) throw new Error(`more than ${MAX_EVENTS} events in one file`)
          raise(args, line.trim(), at)
          count++
        }
        return count
      },
    ),
  ],
}
