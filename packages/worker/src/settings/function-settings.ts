import type { LlmSettings, NotifySettings } from '@scanfarm/functions'
import type { WorkerConfig } from './settings.ts'

/** One bot serves all channels; the channel without a name is the default. */
export const notifySettings = ({
  telegramToken,
  telegramChat,
  telegramChannels,
  webhooks,
}: WorkerConfig['notify']): NotifySettings => {
  const token = telegramToken?.reveal()
  const named = telegramChannels.map((channel) => {
    const at = channel.indexOf('=')
    return { name: channel.slice(0, at), chatId: channel.slice(at + 1) }
  })
  const chats = telegramChat === undefined ? named : [{ name: '', chatId: telegramChat }, ...named]
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
