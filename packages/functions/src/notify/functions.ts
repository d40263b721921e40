import { constants } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Json } from '@scanfarm/language'
import { descriptorPath } from '@scanfarm/paths'
import {
  fn,
  needing,
  NoResult,
  orNoResult,
  textArg,
  type FunctionContext,
  type FunctionGroup,
  type Run,
} from '../define.ts'
import { isThere, pathArg } from '../files/files.ts'
import { openFile } from '../paths/run-folder.ts'
import type { NotifyService } from '../services.ts'

const MISSING = 'notifications are not set up: no channel in the settings'

const service = ({ services }: FunctionContext): NotifyService => {
  if (services.notify !== undefined) return services.notify
  throw new Error(MISSING)
}

const send = async (context: FunctionContext, message: Parameters<NotifyService['send']>[0]): Promise<void> =>
  await orNoResult(context, service(context).send(message))

const existing = async (args: readonly Json[], index: number, context: FunctionContext): Promise<string> => {
  const path = pathArg(args, index, context)
  if (!(await isThere(path, context))) throw new NoResult(`${path} does not exist`)
  return path
}

const messageArg = (args: readonly Json[], index: number): string => {
  const message = textArg(args, index)
  if (message === '') throw new NoResult('there is no message')
  return message
}

const text =
  (channelAt: number, textAt: number): Run =>
  async (args, context) => {
    const channel = channelAt < 0 ? '' : textArg(args, channelAt)
    await send(context, { kind: 'telegram', channel, text: messageArg(args, textAt) })
  }

const file =
  (channelAt: number, pathAt: number, captionAt: number): Run =>
  async (args, context) => {
    const path = await existing(args, pathAt, context)
    const channel = channelAt < 0 ? '' : textArg(args, channelAt)
    const caption = captionAt < 0 ? basename(path) : textArg(args, captionAt, basename(path))
    await using held = await openFile(path, context, constants.O_RDONLY)
    const file = { name: basename(path), path: descriptorPath(held) }
    await send(context, { kind: 'telegram', channel, text: caption, file })
  }

export const NOTIFY_FUNCTIONS: FunctionGroup = {
  title: 'Notifications (need channels in the settings)',
  functions: [
    fn('notify_telegram(message): bool', 'Sends a message.', text(-1, 0)),
    fn('notify_telegram_channel(channel, message): bool', 'Sends a message to a named channel.', text(0, 1)),
    fn('send_telegram_file(path, caption?): bool', 'Sends a file.', file(-1, 0, 1)),
    fn(
      'send_telegram_file_channel(channel, path, caption?): bool',
      'Sends a file to a named channel.',
      file(0, 1, 2),
    ),
    fn('notify_message_as_file_telegram(path): bool', 'Sends a file.', file(-1, 0, -1)),
    fn(
      'notify_message_as_file_telegram_channel(channel, path): bool',
      'Sends a file to a named channel.',
      file(0, 1, -1),
    ),
    fn(
      'notify_webhook(message): bool',
      'Posts a message to the webhooks of the settings.',
      async (args, at) => await send(at, { kind: 'webhook', channel: '', text: textArg(args, 0) }),
    ),
    fn(
      'send_webhook_event(type, data): bool',
      'Posts an event to the webhooks of the settings.',
      async (args, at) => {
        const event = { type: textArg(args, 0), data: args[1] ?? null }
        await send(at, { kind: 'webhook', channel: '', text: textArg(args, 0), event })
      },
    ),
  ].map(
    needing(
      (services) => services.notify !== undefined,
      MISSING,
      () => false,
    ),
  ),
}
