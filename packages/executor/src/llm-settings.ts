import type { LlmSettings } from '@scanfarm/workflow'

/** The part of the settings file about language models; secrets show themselves only when they are asked. */
export interface LlmChoice {
  readonly baseUrl: string | undefined
  readonly apiKey: { reveal(): string } | undefined
  readonly model: string | undefined
}

/** How steps name the one provider of the settings. */
const PROVIDER = 'default'

/** `undefined` when the settings name no language model. */
export const llmSettings = ({ baseUrl, apiKey, model }: LlmChoice): LlmSettings | undefined => {
  if (baseUrl === undefined || model === undefined) return undefined
  return { providers: [{ name: PROVIDER, baseUrl, apiKey: apiKey?.reveal() ?? '', model }] }
}
