import { valueOr } from '@scanfarm/contracts'
import { readText, type ChatAnswer, type FileScope } from '@scanfarm/functions'
import type { Json } from '@scanfarm/language'

/** A message of a conversation with a model. */
export type Message = { [key: string]: Json }

/** An answer of the model as the message that continues the conversation. */
export const assistantMessage = ({ content, toolCalls }: ChatAnswer): Message => ({
  role: 'assistant',
  content,
  ...(toolCalls.length === 0
    ? {}
    : {
        tool_calls: toolCalls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      }),
})

/** The conversation in a file. */
export const resumed = async (path: string, files: FileScope): Promise<Message[]> => {
  if (path === '') return []
  const text = await readText(path, files)
  const value = text === '' ? [] : (JSON.parse(text) as Json)
  return Array.isArray(value)
    ? value.filter(
        (item): item is Message => typeof item === 'object' && item !== null && !Array.isArray(item),
      )
    : []
}

/** Parses a schema that is given as JSON text; other values are returned unchanged. */
export const schemaOf = (schema: Json | undefined): Json | undefined => {
  if (typeof schema !== 'string') return schema
  if (schema.trim() === '') return undefined
  return valueOr(() => JSON.parse(schema) as Json, schema)
}

/** Whether an answer is JSON, as every schema requires. */
export const matchesSchema = (content: string): boolean =>
  valueOr<unknown>(() => JSON.parse(content), undefined) !== undefined
