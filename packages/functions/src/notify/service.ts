import { openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { messageOf } from '@scanfarm/language'
import type { NotifyService } from '../services.ts'

export interface TelegramChannel {
  /** The name in workflows; `""` is the default. */
  readonly name: string
  readonly token: string
  readonly chatId: string
}

export interface NotifySettings {
  readonly telegram: readonly TelegramChannel[]
  readonly webhooks: readonly { readonly url: string; readonly headers?: Readonly<Record<string, string>> }[]
  /** URL of the bot API; default the public one. */
  readonly telegramUrl?: string
}

const TELEGRAM_URL = 'https://api.telegram.org'
const TIMEOUT_MS = 30_000
/** Limits of the bot API. */
const MAX_TEXT = 4096
const MAX_CAPTION = 1024
const MAX_FILE_BYTES = 50 << 20
const MAX_ANSWER = 64 * 1024
const SHOWN_CHARS = 300

/** The token is part of the URL, so that URLs and errors of requests must be masked. */
const hidden = (text: string, secret: string): string => text.replaceAll(secret, '***')

/** The connection is closed after `MAX_ANSWER` bytes; a part of them is shown. */
const beginningOf = async ({ body }: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    if (!(chunk instanceof Uint8Array)) continue
    chunks.push(chunk)
    size += chunk.byteLength
    if (size >= MAX_ANSWER) break
  }
  return Buffer.concat(chunks).toString().slice(0, SHOWN_CHARS)
}

const post = async (
  url: string,
  body: FormData | string,
  headers: Record<string, string>,
  secret: string,
): Promise<void> => {
  let answer: Response
  let text = ''
  try {
    // A redirect would take the message to a server that the settings do not name.
    const options = { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) } as const
    answer = await fetch(url, { method: 'POST', body, headers, ...options })
    text = await beginningOf(answer)
  } catch (error) {
    throw new Error(hidden(`the message could not be sent: ${messageOf(error)}`, secret), { cause: error })
  }
  if (!answer.ok) throw new Error(hidden(`the message was refused with ${answer.status}: ${text}`, secret))
}

const telegram = async (
  { telegramUrl = TELEGRAM_URL }: NotifySettings,
  { token, chatId }: TelegramChannel,
  text: string,
  file: { readonly name: string; readonly path: string } | undefined,
): Promise<void> => {
  const base = `${telegramUrl}/bot${token}`
  if (file === undefined) {
    const body = JSON.stringify({ chat_id: chatId, text: text.slice(0, MAX_TEXT) })
    return await post(`${base}/sendMessage`, body, { 'content-type': 'application/json' }, token)
  }
  const { size } = await stat(file.path)
  if (size > MAX_FILE_BYTES) throw new Error(`${file.name} is larger than ${MAX_FILE_BYTES} bytes`)
  const form = new FormData()
  form.set('chat_id', chatId)
  form.set('caption', text.slice(0, MAX_CAPTION))
  form.set('document', await openAsBlob(file.path), file.name)
  await post(`${base}/sendDocument`, form, {}, token)
}

/** Sends notifications of workflows through the channels of the settings; undefined if there are none. */
export const createNotifyService = (settings: NotifySettings): NotifyService | undefined => {
  if (settings.telegram.length === 0 && settings.webhooks.length === 0) return undefined
  return {
    async send({ kind, channel, text, file, event }) {
      if (kind === 'telegram') {
        const found =
          settings.telegram.find(({ name }) => name === channel) ??
          (channel === '' ? settings.telegram[0] : undefined)
        if (found === undefined) {
          const known = settings.telegram.map(({ name }) => `"${name}"`).join(', ')
          throw new Error(
            `there is no telegram channel "${channel}" in the settings; there are: ${known || 'none'}`,
          )
        }
        return await telegram(settings, found, text, file)
      }
      if (settings.webhooks.length === 0) throw new Error('there is no webhook in the settings')
      const body = JSON.stringify(
        event === undefined ? { message: text } : { event: event.type, data: event.data },
      )
      for (const { url, headers = {} } of settings.webhooks) {
        await post(url, body, { 'content-type': 'application/json', ...headers }, url)
      }
    },
  }
}
