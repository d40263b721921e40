import { askLlm, toChatAnswer } from './client.ts'
import type { Json } from '@scanfarm/language'
import { sending, NoResult, type FunctionContext, type FunctionGroup, messageArg } from '../define.ts'
import { parseObject } from '../text/jsonl.ts'

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
  throw new NoResult(outcome.kind === 'error' ? outcome.message : 'cancelled')
}

/** The message, escaped for a JSON string. */
const insideJson = (message: string): string => JSON.stringify(message).slice(1, -1)

export const LLM_FUNCTIONS: FunctionGroup = {
  title: 'Language models (need a provider in the settings)',
  functions: [
    sending(
      'llm_invoke(message): text',
      'The answer of the model, or ""; the reason for "" is logged.',
      (at) => chat({ messages: [{ role: 'user', content: messageArg(at, 0) }] }, at),
    ),
    sending(
      'llm_invoke_custom(message, body): text',
      'The same with further fields of the request as JSON, in which `{{message}}` is the message.',
      async (at) => {
        const [message, text] = [messageArg(at, 0), at.text(1)]
        const body = parseObject(text.replaceAll('{{message}}', () => insideJson(message)))
        if (body === undefined) throw new NoResult('the second argument must be a JSON object')
        return await chat({ messages: [{ role: 'user', content: message }], ...body }, at)
      },
    ),
    sending(
      'llm_conversations("role:text", …): text',
      'The answer to a whole conversation of the roles system, user and assistant.',
      async (at) => {
        const messages = at.args.flatMap((_, index): Json[] => {
          const text = at.text(index)
          if (text === '') return []
          const end = text.indexOf(':')
          const role = text.slice(0, Math.max(0, end)).trim().toLowerCase()
          if (ROLES.has(role)) return [{ role, content: text.slice(end + 1).trim() }]
          throw new NoResult(`argument ${index + 1} must begin with system:, user: or assistant:`)
        })
        if (messages.length === 0) throw new NoResult('there is no message')
        return await chat({ messages }, at)
      },
    ),
  ],
}
