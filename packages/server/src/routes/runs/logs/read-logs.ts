import { AppError, closed, type ByteRange } from '@scanfarm/contracts'
import type { LogState } from '@scanfarm/store'
import { Readable } from 'node:stream'
import { Type, type Static } from 'typebox'
import { bytes, type Answer } from '../../../http/answer.ts'
import { route, type Exchange } from '../../../http/route.ts'
import { lastEvent, lastEventQuery, sendEvents } from '../../../http/sent-events.ts'
import type { Caller } from '../../../access/authenticator.ts'
import type { ServerContext } from '../../../context.ts'
import { rangeOf } from '../../artifacts/send-artifact.ts'
import { RunPath } from '../read-runs.ts'
import { startOfLine, type LogContent } from './log-files.ts'
import type { LogPosition } from './log-streams.ts'
import { found, wrongField } from '../../../http/refusal.ts'

const PLAIN = 'text/plain; charset=utf-8'

const LogQuery = closed({
  follow: Type.Optional(
    Type.Boolean({ description: 'Server-sent events while the log grows, until it is complete' }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'First byte; default: 0' })),
  line: Type.Optional(
    Type.Integer({ minimum: 1, description: 'First line, from 1, instead of offset. Not with follow' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Most bytes; default: all. Not with follow' }),
  ),
  ...lastEventQuery,
})

const HEADERS = {
  Range: 'Bytes of the log, as an alternative to offset and limit',
  'Last-Event-ID': 'With follow: continue after this event',
}

const RESPONSES = {
  200: {
    media: ['text/plain', 'text/event-stream'],
    description: 'The unchanged output, or the part of offset and limit; with follow a stream of events',
  },
  206: { media: ['text/plain'], description: 'The requested `Range`' },
} as const

const FORMS = `\`Scanfarm-Log\` in the answer says how much there is: \`complete\`; \`live\`: all that its worker has stored so far; \`tail\`: the last 16 KiB that its worker has reported. \`Scanfarm-Log-Size\` is the number of bytes there are. \`offset\` or \`line\`, and \`limit\`, read a part of them, which begins at byte \`Scanfarm-Log-Offset\`; an offset or a line after the end gets no bytes.

With \`follow=true\` the answer is a stream of server-sent events. Each event has \`{"offset": N, "text": "…"}\`: the text of the log from byte N on, cut between characters, where bytes that are not UTF-8 are U+FFFD. Its id is \`ATTEMPT-OFFSET\`, the position after it; a client that reconnects sends it as \`Last-Event-ID\` and continues without a gap. The event \`attempt\` says that the run was started again: the log begins again at 0. The event \`end\` has the status and the size of the log, and the stream ends; a client must close it then.`

export const readRunLog = route(
  {
    endpoint: 'GET /runs/{id}/log',
    summary: 'Read or follow what the workflow and the engine logged',
    description: `The log of the latest attempt, which is also its artifact \`execution log\`. ${FORMS}`,
    role: 'viewer',
    params: RunPath,
    query: LogQuery,
    headers: HEADERS,
    responses: RESPONSES,
    errors: ['range_not_satisfiable', 'too_many_requests', 'unavailable'],
  },
  async (context, { params, query, caller, http }) => {
    const state = found('run', params.id, await context.store.runs.log(params.id))
    return await answer(context, state, query, caller, http)
  },
)

export const readStepLog = route(
  {
    endpoint: 'GET /runs/{id}/steps/{step_id}/log',
    summary: 'Read or follow the whole output of a step',
    description: FORMS,
    role: 'viewer',
    params: Type.Object({ ...RunPath.properties, step_id: Type.String({ description: 'id of the step' }) }),
    query: LogQuery,
    headers: HEADERS,
    responses: RESPONSES,
    errors: ['range_not_satisfiable', 'too_many_requests', 'unavailable'],
  },
  async (context, { params, query, caller, http }) => {
    const state = await context.store.runs.log(params.id, params.step_id)
    if (state === undefined)
      throw new AppError('not_found', `this run has no step ${JSON.stringify(params.step_id)}`)
    return await answer(context, state, query, caller, http)
  },
)

const answer = async (
  { logStreams }: ServerContext,
  state: LogState,
  query: Static<typeof LogQuery>,
  caller: Caller,
  http: Exchange,
): Promise<Answer> => {
  if (query.follow !== true) return await sendPart(await logStreams.content(state), query, http)
  for (const name of ['limit', 'line'] as const)
    if (query[name] !== undefined)
      throw wrongField(`/${name}`, 'cannot be combined with follow: leave it out')
  const after =
    lastEvent(http, query, positionOf) ??
    (query.offset === undefined ? undefined : { attempt: state.attempt, offset: query.offset })
  return sendEvents(await logStreams.open(`${caller.kind} ${caller.id}`, state, after, http.signal()))
}

const sendPart = async (
  content: LogContent,
  { offset: byte, line, limit }: Static<typeof LogQuery>,
  { headers, signal }: Exchange,
): Promise<Answer> => {
  const { kind, size } = content
  if (byte !== undefined && line !== undefined)
    throw wrongField('/line', 'cannot be combined with offset: leave one out')
  const offset = line === undefined ? byte : await startOfLine(content, line, signal())
  const isPart = offset !== undefined || limit !== undefined
  const range = isPart ? undefined : rangeOf(headers.range, size)
  const start = range?.start ?? Math.min(offset ?? 0, size)
  const end = range?.end ?? Math.min(start + (limit ?? size), size) - 1
  const part: ByteRange = { start, end }
  const body = end < start ? Readable.from([]) : await content.read(part)
  return bytes(range === undefined ? 200 : 206, body, {
    'Content-Type': PLAIN,
    'Content-Length': end - start + 1,
    ...(range && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
    'Accept-Ranges': 'bytes',
    'Scanfarm-Log': kind,
    'Scanfarm-Log-Offset': start,
    'Scanfarm-Log-Size': size,
  })
}

const POSITION = /^(?<attempt>\d{1,9})-(?<offset>\d{1,15})$/

const positionOf = (text: string): LogPosition | undefined => {
  const { groups } = POSITION.exec(text) ?? {}
  return groups && { attempt: Number(groups['attempt']), offset: Number(groups['offset']) }
}
