import type { LlmProvider, NotifySettings } from '@scanfarm/functions'

export const LLM_FORM = 'https://:KEY@HOST/v1?model=NAME'
export const TELEGRAM_FORM = 'telegram://BOT_TOKEN@CHAT?NAME=CHAT'

/** The name of the one provider in the settings. */
const PROVIDER = 'default'

/** Throws an error that says what the URL must be, and does not contain it. */
export const readLlmUrl = (text: string): LlmProvider => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const model = url?.searchParams.get('model') ?? ''
  if (url === undefined || !/^https?:$/.test(url.protocol) || model === '' || url.searchParams.size > 1)
    throw new Error(`must be like ${LLM_FORM}`)
  return {
    name: PROVIDER,
    baseUrl: url.origin + url.pathname.replace(/\/$/, ''),
    apiKey: decodeURIComponent(url.password || url.username),
    model,
  }
}

/** One bot serves all channels; the channel without a name is the default. */
export const readTelegramUrl = (text: string): NotifySettings['telegram'] => {
  const {
    token = '',
    chat = '',
    others = '',
  } = /^telegram:\/\/(?<token>[^@/?\s]+)@(?<chat>[^/?\s]*)(?:\?(?<others>\S*))?$/.exec(text)?.groups ?? {}
  const chats = [...new URLSearchParams(others)]
  if (token === '' || (chat === '' && chats.length === 0)) throw new Error(`must be like ${TELEGRAM_FORM}`)
  return [...(chat === '' ? [] : [['', chat] as const]), ...chats].map(([name, chatId]) => ({
    name,
    chatId,
    token,
  }))
}
