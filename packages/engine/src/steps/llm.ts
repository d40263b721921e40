import { askLlm, at as field, toChatAnswer, usageOf, providersFor } from '@scanfarm/functions'
import type { Json, LlmConfig, Step, Value } from '@scanfarm/language'
import { data, fromJson, parseDuration } from '@scanfarm/language'
import { type StepContext, interruption, signalOf } from '../step/step-context.ts'
import { renderPlain } from '../step/render.ts'
import { show } from '../step/row.ts'
import type { StepEnd } from '../step/step-end.ts'

const TIMEOUT_MS = 120_000
const TRIES = 3

/** Renders all texts in a JSON value as templates. */
export const renderJson = ({ scope }: StepContext, value: Json): Json => {
  const render = (inner: Json): Json => {
    if (typeof inner === 'string') return renderPlain(inner, scope)
    if (Array.isArray(inner)) return inner.map(render)
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, render(item)]))
  }
  return render(value)
}

export const renderConfig = (at: StepContext, config: LlmConfig = {}): LlmConfig => {
  const plain = (text: string) => renderPlain(text, at.scope)
  const rendered = {
    ...config,
    ...(config.custom_headers && { custom_headers: { ...config.custom_headers } }),
  }
  const { custom_headers: headers = {} } = rendered
  for (const [name, text] of Object.entries(headers)) headers[name] = plain(text)
  for (const key of ['provider', 'base_url', 'api_key', 'model', 'timeout'] as const)
    if (config[key] !== undefined) rendered[key] = plain(config[key])
  return rendered
}

/** Sampling fields of a request. Unset fields are not sent. */
export const samplingOf = (config: LlmConfig): { [key: string]: Json } => {
  const { max_tokens, temperature, top_k, top_p, n, response_format } = config
  const all = { max_tokens, temperature, top_k, top_p, n, response_format }
  return Object.fromEntries(
    Object.entries(all).flatMap(([key, value]): [string, Json][] =>
      value === undefined ? [] : [[key, value]],
    ),
  )
}

export interface LlmCall {
  readonly config: LlmConfig
  readonly path: '/chat/completions' | '/embeddings'
  readonly body: { readonly [key: string]: Json }
  readonly timeoutMs: number
}

const chatBody = (at: StepContext, step: Step, config: LlmConfig): { [key: string]: Json } => ({
  messages: (step.messages ?? []).map((message) => renderJson(at, { ...message } as { [key: string]: Json })),
  ...samplingOf(config),
  ...(step.stream === true || config.stream === true ? { stream: true } : {}),
  ...(step.tools === undefined ? {} : { tools: step.tools }),
  ...(step.tool_choice === undefined ? {} : { tool_choice: step.tool_choice }),
  ...(step.extra_llm_parameters === undefined
    ? {}
    : (renderJson(at, step.extra_llm_parameters) as { [key: string]: Json })),
})

export const renderLlm = (at: StepContext): LlmCall => {
  const { step } = at
  const config = renderConfig(at, step.llm_config)
  const isEmbedding =
    step.is_embedding === true || (step.messages === undefined && step.embedding_input !== undefined)
  return {
    config,
    path: isEmbedding ? '/embeddings' : '/chat/completions',
    body: isEmbedding ? { input: renderJson(at, step.embedding_input ?? []) } : chatBody(at, step, config),
    timeoutMs: parseDuration(config.timeout ?? '') ?? TIMEOUT_MS,
  }
}

export const variableName = (step: Step): string => step.name.replaceAll(/\W/g, '_')

const exportsOf = (step: Step, json: Json, content: string, provider: string): Record<string, Value> => {
  const name = variableName(step)
  const usage = usageOf(json)
  const { toolCalls, finishReason, model } = toChatAnswer(json)
  const response: Json = {
    content,
    model,
    provider,
    finish_reason: finishReason,
    tool_calls: toolCalls.map((call) => ({ ...call })),
    usage: { prompt_tokens: usage.prompt, completion_tokens: usage.completion, total_tokens: usage.total },
    raw: json,
  }
  return {
    [`${name}_llm_resp`]: fromJson(response),
    [`${name}_content`]: data(content),
    [`${name}_prompt_tokens`]: usage.prompt,
    [`${name}_completion_tokens`]: usage.completion,
    [`${name}_total_tokens`]: usage.total,
  }
}

/** Sends one request to a language model: a conversation, or texts to embed. */
export const runLlm = async (
  at: StepContext,
  { config, path, body, timeoutMs }: LlmCall,
): Promise<StepEnd> => {
  const { run } = at.module
  const outcome = await askLlm(providersFor(config, run.input.services?.llm), {
    path,
    body,
    headers: config.custom_headers ?? {},
    timeoutMs,
    tries: config.max_retries ?? TRIES,
    signal: signalOf(at),
  })
  if (signalOf(at).aborted || outcome.kind === 'cancelled') return interruption(at)
  if (outcome.kind === 'error') return { kind: 'failed', error: `language model: ${outcome.message}` }
  const embeddings = path === '/embeddings' ? field(outcome.json, 'data') : undefined
  const content =
    embeddings === undefined
      ? toChatAnswer(outcome.json).content
      : JSON.stringify(
          (Array.isArray(embeddings) ? embeddings : []).map((item) => field(item, 'embedding') ?? []),
        )
  await show(at, `${content}\n`)
  return {
    kind: 'done',
    stdout: content,
    output: content,
    exports: exportsOf(at.step, outcome.json, content, outcome.provider),
  }
}
