import type { LlmSettings, NotifySettings } from '@scanfarm/functions'
import { readLlmUrl, readTelegramUrl } from './service-urls.ts'
import type { WorkerConfig } from './settings.ts'

export const notifySettings = ({ telegram, webhooks }: WorkerConfig['notify']): NotifySettings => ({
  telegram: telegram === undefined ? [] : readTelegramUrl(telegram.reveal()),
  webhooks: webhooks.map((url) => ({ url })),
})

/** `undefined` when the settings name no language model. */
export const llmSettings = ({ url }: WorkerConfig['llm']): LlmSettings | undefined =>
  url === undefined ? undefined : { providers: [readLlmUrl(url.reveal())] }
