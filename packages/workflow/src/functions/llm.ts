import { askLlm, toChatAnswer } from '../llm/client.ts'
import type { Json } from '../model.ts'
import { fn, isObject, textArg, type FunctionContext, type FunctionGroup } from './define.ts'

const TIMEOUT_MS = 120_000
const TRIES = 3
const ROLES = new Set(['system', 'user', 'assistant'])

const chat = async (body: { [key: string]: Json }, { services, signal }: FunctionContext): Promise<Json> => {
  const outcome = await askLlm(services.llm?.providers ?? [], {
    path: '/chat/completions',
    body,
    timeoutMs: TIMEOUT_MS,
    tries: TRIES,
    signal,
  })
  if (outcome.kind === 'answer') return toChatAnswer(outcome.json).content
  throw new Error(outcome.kind === 'error' ? outcome.message : 'cancelled')
}

export const LLM_FUNCTIONS: FunctionGroup = {
  title: 'Language models (need a provider in the settings)',
  functions: [
    fn(
      'llm_invoke(message)',
      'text',
      'The answer of the model.',
      async (args, at) => await chat({ messages: [{ role: 'user', content: textArg(args, 0) }] }, at),
    ),
    fn(
      'llm_invoke_custom(message, body)',
      'text',
      'The same with more fields of the request, as JSON.',
      async (args, at) => {
        const value = args[1]
        const body = typeof value === 'string' ? (JSON.parse(value) as Json) : (value ?? null)
        if (!isObject(body)) throw new Error('the second argument must be a JSON object')
        return await chat({ messages: [{ role: 'user', content: textArg(args, 0) }], ...body }, at)
      },
    ),
    fn(
      'llm_conversations("role:text", …)',
      'text',
      'The answer to a whole conversation.',
      async (args, at) => {
        const messages = args.map((_, index): Json => {
          const text = textArg(args, index)
          const role = text.slice(0, Math.max(0, text.indexOf(':')))
          return ROLES.has(role)
            ? { role, content: text.slice(role.length + 1) }
            : { role: 'user', content: text }
        })
        return await chat({ messages }, at)
      },
    ),
  ],
}
