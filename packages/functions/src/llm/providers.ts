import type { LlmProvider, LlmSettings } from '../services.ts'
import type { LlmConfig } from '@scanfarm/language'

/** Scheme, host and port; undefined if the text is not a URL. */
const originOf = (address: string): string | undefined =>
  URL.canParse(address) ? new URL(address).origin : undefined

/**
 * The provider for an endpoint that a step sets. The key of the settings is only sent to the endpoint of the settings;
 * any other endpoint gets the key of the step, or none.
 */
const ownEndpoint = (base: string, config: LlmConfig, known: readonly LlmProvider[]): LlmProvider => {
  const origin = originOf(base)
  const same = known.find(({ baseUrl }) => origin !== undefined && originOf(baseUrl) === origin)
  return {
    name: config.provider ?? same?.name ?? 'endpoint',
    baseUrl: base,
    apiKey: same?.apiKey ?? '',
    model: same?.model ?? '',
  }
}

/** The providers in order: the endpoint of the step, the provider that it names, or all of the settings. */
export const providersFor = (config: LlmConfig, settings: LlmSettings | undefined): LlmProvider[] => {
  const all = settings?.providers ?? []
  const named = config.provider === undefined ? all : all.filter(({ name }) => name === config.provider)
  const base = config.base_url === undefined ? named : [ownEndpoint(config.base_url, config, named)]
  return base.map((provider) => ({
    ...provider,
    ...(config.api_key === undefined || config.api_key === '' ? {} : { apiKey: config.api_key }),
    ...(config.model === undefined ? {} : { model: config.model }),
  }))
}
