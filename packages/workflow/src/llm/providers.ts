import type { LlmProvider, LlmSettings } from '../functions/services.ts'
import type { LlmConfig } from '../model.ts'

/** Whom to ask, in order: an endpoint of the step's own, the provider it names, or all of the settings. */
export const providersFor = (config: LlmConfig, settings: LlmSettings | undefined): LlmProvider[] => {
  const all = settings?.providers ?? []
  const named = config.provider === undefined ? all : all.filter(({ name }) => name === config.provider)
  const base =
    config.base_url === undefined
      ? named
      : [
          {
            name: config.provider ?? 'endpoint',
            baseUrl: config.base_url,
            apiKey: named[0]?.apiKey ?? '',
            model: '',
          },
        ]
  return base.map((provider) => ({
    ...provider,
    ...(config.model === undefined ? {} : { model: config.model }),
  }))
}
