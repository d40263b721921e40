import { expect, test } from '@jest/globals'
import { notifySettings } from '../src/notify-settings.ts'

const token = { reveal: () => 'bot-token' }

test('The chat of the settings is where messages go that name no channel', () => {
  expect(
    notifySettings({
      telegramToken: token,
      telegramChat: '42',
      telegramChannels: ['alerts=-100=7'],
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

test('Without a token there is nobody to send for', () => {
  const settings = notifySettings({
    telegramToken: undefined,
    telegramChat: '42',
    telegramChannels: [],
    webhooks: [],
  })
  expect(settings.telegram).toEqual([])
})
