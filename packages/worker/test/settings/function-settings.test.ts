import { expect, test } from '@jest/globals'
import { Secret } from '@scanfarm/platform'
import { notifySettings } from '../../src/settings/function-settings.ts'

const token = new Secret('bot-token')

test('Messages without a channel are sent to the chat of the settings', () => {
  expect(
    notifySettings({
      telegramToken: token,
      telegramChats: ['42', 'alerts=-100=7'],
      webhooks: ['https://hooks.test/a'],
    }),
  ).toEqual({
    telegram: [
      { name: '', chatId: '42', token: 'bot-token' },
      { name: 'alerts', chatId: '-100=7', token: 'bot-token' },
    ],
    webhooks: [{ url: 'https://hooks.test/a' }],
  })
})

test('Settings without a token have no channels', () => {
  const settings = notifySettings({
    telegramToken: undefined,
    telegramChats: ['42'],
    webhooks: [],
  })
  expect(settings.telegram).toEqual([])
})
