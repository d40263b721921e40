import { AppError, closed } from '@scanfarm/contracts'
import { llmSettings } from '@scanfarm/worker'
import { askLlm, toChatAnswer, usageOf, type LlmRequest } from '@scanfarm/functions'
import { Type } from 'typebox'
import type { ServerContext } from '../context.ts'
import { json } from '../http/answer.ts'
import { route, type Exchange } from '../http/route.ts'

const TIMEOUT_MS = 120_000
const TRIES = 2
const MESSAGES = 1_000
const INPUTS = 2_048

type Answered = Record<string, unknown>

/** Sends a request to the configured language model. The key is masked in every answer. */
const ask = async (
  { config, questions }: Pick<ServerContext, 'config' | 'questions'>,
  path: LlmRequest['path'],
  body: object,
  http: Exchange,
): Promise<Answered> => {
  const providers = llmSettings(config.llm)?.providers ?? []
  if (providers.length === 0)
    throw new AppError(
      'not_implemented',
      'no language model is configured: set llm.url and restart the server',
    )
  using _slot = questions.acquire()
  const outcome = await askLlm(providers, {
    path,
    body: body as LlmRequest['body'],
    timeoutMs: TIMEOUT_MS,
    tries: TRIES,
    signal: http.signal(),
  })
  const key = providers[0]?.apiKey ?? ''
  const masked = (text: string): string => (key === '' ? text : text.replaceAll(key, '***'))
  if (outcome.kind === 'answer') {
    const answer: unknown = JSON.parse(masked(JSON.stringify(outcome.json)))
    if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer as Answered
    throw new AppError('unavailable', 'the language model did not answer with a JSON object')
  }
  if (outcome.kind === 'cancelled') throw new AppError('unavailable', 'the client closed the connection')
  const isCallers = [400, 404, 413, 422].includes(outcome.status)
  throw new AppError(isCallers ? 'bad_request' : 'unavailable', masked(outcome.message))
}

const Usage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
})

const usage = (answer: Answered) => {
  const { prompt, completion, total } = usageOf(answer as LlmRequest['body'])
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const open = { additionalProperties: true } as const
const Tool = Type.Object({ type: Type.String() }, open)

export const chatCompletion = route(
  {
    endpoint: 'POST /llm/v1/chat/completions',
    summary: 'Ask the configured language model',
    description: `The request is forwarded to \`llm.url\` with the configured key. The answer is that of the endpoint; \`content\`, \`finish_reason\` and \`tool_calls\` of its first choice are added. Answers are not streamed. Without a configured model: 501.`,
    role: 'operator',
    body: closed({
      messages: Type.Array(Type.Object({ role: Type.String() }, open), {
        minItems: 1,
        maxItems: MESSAGES,
      }),
      model: Type.Optional(Type.String({ minLength: 1, description: 'Default: that of `llm.url`' })),
      max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
      temperature: Type.Optional(Type.Number()),
      top_p: Type.Optional(Type.Number()),
      top_k: Type.Optional(Type.Integer()),
      n: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 })),
      stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
      stream: Type.Optional(Type.Literal(false, { description: 'Answers are not streamed' })),
      tools: Type.Optional(Type.Array(Tool)),
      tool_choice: Type.Optional(Type.Unknown()),
      response_format: Type.Optional(Type.Object({ type: Type.String() }, open)),
    }),
    responses: {
      200: Type.Object(
        {
          id: Type.String(),
          model: Type.String(),
          content: Type.Unknown({ description: 'Of the first choice; null with tool calls' }),
          finish_reason: Type.String(),
          tool_calls: Type.Optional(Type.Array(Type.Unknown())),
          choices: Type.Optional(Type.Unknown()),
          usage: Usage,
        },
        open,
      ),
    },
    errors: ['bad_request', 'not_implemented', 'unavailable'],
  },
  async (context, { body, http }) => {
    const answer = await ask(context, '/chat/completions', body, http)
    const { content, toolCalls, finishReason } = toChatAnswer(answer as LlmRequest['body'])
    return json(200, {
      ...answer,
      id: textOf(answer.id),
      model: textOf(answer.model),
      content: content === '' && toolCalls.length > 0 ? null : content,
      finish_reason: finishReason,
      ...(toolCalls.length === 0
        ? {}
        : {
            tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
              id,
              type: 'function',
              function: { name, arguments: args },
            })),
          }),
      usage: usage(answer),
    })
  },
)

const vectorsOf = (data: unknown): unknown[] =>
  (Array.isArray(data) ? data : []).map((item: unknown) =>
    typeof item === 'object' && item !== null && 'embedding' in item ? item.embedding : [],
  )

export const createEmbeddings = route(
  {
    endpoint: 'POST /llm/v1/embeddings',
    summary: 'Convert texts to vectors with the configured language model',
    description:
      "Like POST /llm/v1/chat/completions; the vectors in the endpoint's `data` are also returned as `embeddings`.",
    role: 'operator',
    body: closed({
      input: Type.Union([
        Type.String({ minLength: 1 }),
        Type.Array(Type.String(), { minItems: 1, maxItems: INPUTS }),
      ]),
      model: Type.Optional(Type.String({ minLength: 1, description: 'Default: that of `llm.url`' })),
    }),
    responses: {
      200: Type.Object({ model: Type.String(), embeddings: Type.Array(Type.Unknown()), usage: Usage }, open),
    },
    errors: ['bad_request', 'not_implemented', 'unavailable'],
  },
  async (context, { body, http }) => {
    const answer = await ask(context, '/embeddings', body, http)
    return json(200, {
      ...answer,
      model: textOf(answer.model),
      embeddings: vectorsOf(answer.data),
      usage: usage(answer),
    })
  },
)
