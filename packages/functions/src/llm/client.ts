import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs, boundedText } from '@scanfarm/contracts'
import { messageOf, type Json } from '@scanfarm/language'
import type { LlmProvider } from '../services.ts'

/** A client of the OpenAI-compatible protocol: chat completions and embeddings. */

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text by the model. */
  readonly arguments: string
}

export interface Usage {
  readonly prompt: number
  readonly completion: number
  readonly total: number
}

export interface ChatAnswer {
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
  readonly finishReason: string
  readonly usage: Usage
  readonly model: string
}

export interface LlmRequest {
  readonly path: '/chat/completions' | '/embeddings'
  /** The request body. The model is that of the provider unless it is set here. */
  readonly body: { readonly [key: string]: Json }
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Attempts per provider. */
  readonly tries: number
  readonly signal: AbortSignal
}

export type LlmOutcome =
  | { readonly kind: 'answer'; readonly json: Json; readonly provider: string }
  /** `status` is the HTTP status, 0 if there was no response. */
  | { readonly kind: 'error'; readonly message: string; readonly status: number }
  | { readonly kind: 'cancelled' }

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 8000
const MAX_ANSWER = 16 << 20

/** Statuses that are retried. Other errors would repeat. */
const worthRetry = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

const pauseFor = (attempt: number, retryAfter: string | null): number => {
  const seconds = Number(retryAfter)
  if (retryAfter !== null && Number.isFinite(seconds) && seconds >= 0)
    return Math.min(MAX_PAUSE_MS, seconds * 1000)
  return backoffMs(attempt, { firstMs: FIRST_PAUSE_MS, mostMs: MAX_PAUSE_MS })
}

type Try = { json: Json } | { message: string; status: number; again: boolean; retryAfter: string | null }

const once = async (provider: LlmProvider, request: LlmRequest): Promise<Try> => {
  const { path, body, headers = {}, timeoutMs, signal } = request
  try {
    const response = await fetch(`${provider.baseUrl.replace(/\/+$/, '')}${path}`, {
      method: 'POST',
      // The key belongs to this server only.
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(provider.apiKey === '' ? {} : { authorization: `Bearer ${provider.apiKey}` }),
        ...headers,
      },
      body: JSON.stringify({ model: provider.model, ...body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
    const text = await boundedText(response.body, MAX_ANSWER)
    if (!response.ok) {
      return {
        message: `${provider.name} answered ${response.status}: ${errorText(text)}`,
        status: response.status,
        again: worthRetry(response.status),
        retryAfter: response.headers.get('retry-after'),
      }
    }
    return { json: isStream ? assembled(text) : (JSON.parse(text) as Json) }
  } catch (error) {
    return { message: `${provider.name}: ${messageOf(error)}`, status: 0, again: true, retryAfter: null }
  }
}

const errorText = (text: string): string => {
  try {
    const message = at(JSON.parse(text) as Json, 'error', 'message')
    if (typeof message === 'string') return message
  } catch {
    // Not JSON: the text is the message.
  }
  return text.slice(0, 300)
}

export const at = (value: Json | undefined, ...path: (string | number)[]): Json | undefined =>
  path.reduce<Json | undefined>((inner, key) => {
    if (Array.isArray(inner)) return inner[Number(key)]
    return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? inner[key] : undefined
  }, value)

/** Joins the chunks of a streamed response. */
const assembled = (text: string): Json => {
  let content = ''
  let last: Json = {}
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
  let finish: Json = null
  for (const line of text.split('\n')) {
    const data = line.startsWith('data:') ? line.slice(5).trim() : ''
    if (data === '' || data === '[DONE]') continue
    const piece = JSON.parse(data) as Json
    last =
      typeof piece === 'object' && piece !== null && !Array.isArray(piece)
        ? { ...(last as object), ...piece }
        : last
    const delta = at(piece, 'choices', 0, 'delta')
    content += wordsOf(at(delta, 'content'))
    finish = at(piece, 'choices', 0, 'finish_reason') ?? finish
    const pieces = at(delta, 'tool_calls')
    for (const call of Array.isArray(pieces) ? pieces : []) {
      const index = Number(at(call, 'index') ?? 0)
      calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } }
      const into = calls[index]
      into.id += wordsOf(at(call, 'id'))
      into.function.name += wordsOf(at(call, 'function', 'name'))
      into.function.arguments += wordsOf(at(call, 'function', 'arguments'))
    }
  }
  const message = { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
  return { ...(last as { [key: string]: Json }), choices: [{ index: 0, message, finish_reason: finish }] }
}

/** Asks the providers in order, each up to `tries` times, until one responds. */
export const askLlm = async (providers: readonly LlmProvider[], request: LlmRequest): Promise<LlmOutcome> => {
  let message = 'no language model is set up: name a provider in the settings, or llm_config.base_url'
  let status = 0
  for (const provider of providers) {
    for (let attempt = 1; attempt <= Math.max(1, request.tries); attempt++) {
      if (request.signal.aborted) return { kind: 'cancelled' }
      const result = await once(provider, request)
      if ('json' in result) return { kind: 'answer', json: result.json, provider: provider.name }
      if (request.signal.aborted) return { kind: 'cancelled' }
      ;({ message, status } = result)
      if (!result.again) break
      if (attempt < request.tries) {
        const wait = pauseFor(attempt, result.retryAfter)
        await pause(wait, undefined, { signal: request.signal }).catch(() => undefined)
      }
    }
  }
  return { kind: 'error', message, status }
}

const count = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)

export const usageOf = (json: Json): Usage => ({
  prompt: count(at(json, 'usage', 'prompt_tokens')),
  completion: count(at(json, 'usage', 'completion_tokens')),
  total: count(at(json, 'usage', 'total_tokens')),
})

export const toChatAnswer = (json: Json): ChatAnswer => {
  const message = at(json, 'choices', 0, 'message')
  const calls = at(message, 'tool_calls')
  const content = at(message, 'content')
  return {
    content:
      typeof content === 'string'
        ? content
        : content === undefined || content === null
          ? ''
          : JSON.stringify(content),
    toolCalls: (Array.isArray(calls) ? calls : []).map((call, index) => ({
      id: wordsOf(at(call, 'id'), `call_${index}`),
      name: wordsOf(at(call, 'function', 'name')),
      arguments: wordsOf(at(call, 'function', 'arguments'), '{}'),
    })),
    finishReason: wordsOf(at(json, 'choices', 0, 'finish_reason')),
    usage: usageOf(json),
    model: wordsOf(at(json, 'model')),
  }
}

/** A text unchanged, anything else as JSON. */
const wordsOf = (value: Json | undefined, missing = ''): string => {
  if (value === undefined || value === null) return missing
  return typeof value === 'string' ? value : JSON.stringify(value)
}
