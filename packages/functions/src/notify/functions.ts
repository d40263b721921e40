import { constants } from 'node:fs/promises'
import { basename } from 'node:path'
import { descriptorPath } from '@scanfarm/paths'
import {
  sending,
  needing,
  NoResult,
  orNoResult,
  type FunctionContext,
  type FunctionGroup,
  type Run,
  type Call,
  messageArg,
} from '../define.ts'
import { isThere } from '../files/files.ts'
import { openFile } from '../paths/run-folder.ts'
import type { NotifyService } from '../services.ts'

const MISSING = 'notifications are not set up: no channel in the settings'

const service = ({ services }: FunctionContext): NotifyService => {
  if (services.notify !== undefined) return services.notify
  throw new Error(MISSING)
}

const send = async (context: FunctionContext, message: Parameters<NotifyService['send']>[0]): Promise<void> =>
  await orNoResult(context, service(context).send(message))

const existing = async (context: Call, index: number): Promise<string> => {
  const path = context.path(index)
  if (!(await isThere(path, context))) throw new NoResult(`${path} does not exist`)
  return path
}

const text =
  (channelAt: number, textAt: number): Run =>
  async (context) => {
    const channel = channelAt < 0 ? '' : context.text(channelAt)
    await send(context, { kind: 'telegram', channel, text: messageArg(context, textAt) })
  }

const file =
  (channelAt: number, pathAt: number, captionAt: number): Run =>
  async (context) => {
    const path = await existing(context, pathAt)
    const channel = channelAt < 0 ? '' : context.text(channelAt)
    const caption = captionAt < 0 ? basename(path) : context.text(captionAt, basename(path))
    await using opened = await openFile(path, context, constants.O_RDONLY)
    const file = { name: basename(path), path: descriptorPath(opened) }
    await send(context, { kind: 'telegram', channel, text: caption, file })
  }

export const NOTIFY_FUNCTIONS: FunctionGroup = {
  title: 'Notifications (need channels in the settings)',
  functions: [
    sending('notify_telegram(message): bool', 'Sends a message.', text(-1, 0)),
    sending(
      'notify_telegram_channel(channel, message): bool',
      'Sends a message to a named channel.',
      text(0, 1),
    ),
    sending('send_telegram_file(path, caption?): bool', 'Sends a file.', file(-1, 0, 1)),
    sending(
      'send_telegram_file_channel(channel, path, caption?): bool',
      'Sends a file to a named channel.',
      file(0, 1, 2),
    ),
    sending('notify_message_as_file_telegram(path): bool', 'Sends a file.', file(-1, 0, -1)),
    sending(
      'notify_message_as_file_telegram_channel(channel, path): bool',
      'Sends a file to a named channel.',
      file(0, 1, -1),
    ),
    sending('notify_webhook(message): bool', 'Posts a message to the webhooks of the settings.', (at) =>
      send(at, { kind: 'webhook', channel: '', text: at.text(0) }),
    ),
    sending(
      'send_webhook_event(type, data): bool',
      'Posts an event to the webhooks of the settings.',
      async (at) => {
        const event = { type: at.text(0), data: at.args[1] ?? null }
        await send(at, { kind: 'webhook', channel: '', text: at.text(0), event })
      },
    ),
  ].map(needing('notify', MISSING, false)),
}
