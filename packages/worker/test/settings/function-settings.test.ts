import { expect, test } from '@jest/globals'
import { Secret } from '@scanfarm/platform'
import { llmSettings, notifySettings } from '../../src/settings/function-settings.ts'
import { readLlmUrl, readTelegramUrl } from '../../src/settings/service-urls.ts'

test('Messages without a channel are sent to the chat of the settings', () => {
  const telegram = new Secret('telegram://7:bot-token@42?alerts=-100=7')
  expect(notifySettings({ telegram, webhooks: ['https://hooks.test/a'] })).toEqual({
    telegram: [
      { name: '', chatId: '42', token: '7:bot-token' },
      { name: 'alerts', chatId: '-100=7', token: '7:bot-token' },
    ],
    webhooks: [{ url: 'https://hooks.test/a' }],
  })
  expect(readTelegramUrl('telegram://7:t@?alerts=1')).toEqual([{ name: 'alerts', chatId: '1', token: '7:t' }])
})

test('Settings without services have none', () => {
  expect(notifySettings({ telegram: undefined, webhooks: [] }).telegram).toEqual([])
  expect(llmSettings({ url: undefined })).toBeUndefined()
})

test('The URL of a language model has its key and model', () => {
  const model = { name: 'default', model: 'house/model' }
  expect(readLlmUrl('https://:k%40y@llm.test:1/v1/?model=house/model')).toEqual({
    ...model,
    baseUrl: 'https://llm.test:1/v1',
    apiKey: 'k@y',
  })
  expect(readLlmUrl('http://llm.test/v1?model=house/model')).toEqual({
    ...model,
    baseUrl: 'http://llm.test/v1',
    apiKey: '',
  })
})

test.each([
  'llm.test/v1?model=m',
  'ftp://llm.test/v1?model=m',
  'https://:hush@llm.test/v1',
  'https://h?model=m&x=1',
])('The URL %s of a language model is refused', (url) =>
  expect(() => readLlmUrl(url)).toThrow(/^must be like https:\/\/:KEY@HOST\/v1\?model=NAME$/),
)

test.each(['7:hush', 'telegram://7:hush', 'telegram://7:hush@', 'telegram://@42'])(
  'The address %s of a Telegram bot is refused',
  (url) => expect(() => readTelegramUrl(url)).toThrow(/^must be like telegram:\/\/BOT_TOKEN@CHAT/),
)
