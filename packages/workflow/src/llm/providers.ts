import type { LlmProvider, LlmSettings } from '../functions/services.ts'
import type { LlmConfig } from '../model.ts'

/** Scheme, host and port; `undefined` for what is no address. */
const originOf = (address: string): string | undefined =>
  URL.canParse(address) ? new URL(address).origin : undefined

/**
 * An endpoint that a step names itself. The key of the settings goes to the place that the settings name and nowhere
 * else: another one gets the step's own key, or none.
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

/** Whom to ask, in order: an endpoint of the step's own, the provider it names, or all of the settings. */
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
