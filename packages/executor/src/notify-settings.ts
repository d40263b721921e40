import type { NotifySettings } from '@scanfarm/workflow'

/** The part of the settings file about notifications; secrets show themselves only when they are asked. */
export interface NotifyChoice {
  readonly telegramToken: { reveal(): string } | undefined
  readonly telegramChat: string | undefined
  /** `name=chat id` */
  readonly telegramChannels: readonly string[]
  readonly webhooks: readonly string[]
}

/** One bot for all channels; the unnamed one is where messages go that name none. */
export const notifySettings = ({
  telegramToken,
  telegramChat,
  telegramChannels,
  webhooks,
}: NotifyChoice): NotifySettings => {
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
