import type { LlmSettings, NotifySettings } from '@scanfarm/functions'
import type { WorkerConfig } from './settings.ts'

/** One bot serves all channels; the channel without a name is the default. */
export const notifySettings = ({
  telegramToken,
  telegramChats,
  webhooks,
}: WorkerConfig['notify']): NotifySettings => {
  const token = telegramToken?.reveal()
  const chats = telegramChats.map((chat) => {
    const at = chat.indexOf('=')
    return { name: chat.slice(0, Math.max(0, at)), chatId: chat.slice(at + 1) }
  })
  return {
    telegram: token === undefined ? [] : chats.map((chat) => ({ ...chat, token })),
    webhooks: webhooks.map((url) => ({ url })),
  }
}

/** The name of the one provider in the settings. */
const PROVIDER = 'default'

/** `undefined` when the settings name no language model. */
export const llmSettings = ({ baseUrl, apiKey, model }: WorkerConfig['llm']): LlmSettings | undefined => {
  if (baseUrl === undefined || model === undefined) return undefined
  return { providers: [{ name: PROVIDER, baseUrl, apiKey: apiKey?.reveal() ?? '', model }] }
}
