import { existsSync } from 'node:fs'
import packageJson from '../../package.json' with { type: 'json' }
import { CloudError } from '../provider.ts'

/** Libraries that providers need. The npm package does not contain them: the operator installs those of a provider in use. */
export const SDKS = {
  aws: ['@aws-sdk/client-ec2'],
  azure: ['@azure/arm-compute', '@azure/arm-network', '@azure/identity'],
  gcp: ['google-auth-library'],
} as const

type Provider = keyof typeof SDKS

const INSTALLED = /^file:\/\/(.*)\/node_modules\/scanfarm\//

/** The command that installs libraries where this program, at the URL `from`, finds them. */
export const installCommand = (provider: Provider, from: string = import.meta.url): string => {
  const folder = INSTALLED.exec(decodeURIComponent(from))?.[1]
  const place =
    folder === undefined ? '' : existsSync(`${folder}/package.json`) ? ` --prefix ${folder}` : ' --global'
  const names = SDKS[provider].map((name) => `${name}@${packageJson.dependencies[name]}`)
  return `npm install${place} ${names.join(' ')}`
}

/** Rejects with the command to run if a library of the provider is not installed. */
export const loadSdk = async <T>(provider: Provider, load: () => Promise<T>): Promise<T> => {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(provider, error)) throw error
    throw new CloudError(
      'refused',
      `provider ${provider} needs libraries that are not installed: run ${installCommand(provider)} and restart the program`,
    )
  }
}

/** False if a dependency of an installed library is missing: the command would not install it. */
const isMissing = (provider: Provider, error: unknown): boolean =>
  Error.isError(error) &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  SDKS[provider].some((name) => error.message.startsWith(`Cannot find package '${name}'`))
