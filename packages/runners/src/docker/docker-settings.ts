import { readDockerFile } from './config-folder.ts'
import type { DockerRunnersOptions } from './docker-runners.ts'
import { engineAddress, type EngineSettings } from './engine-address.ts'
import { readRegistryAuths } from './registry-auth.ts'

/** The settings of the docker runner. */
export interface DockerSettings extends EngineSettings {
  readonly dockerImages: readonly string[]
  readonly dockerVolumes: readonly string[]
  readonly dockerNetworks: readonly string[]
}

/** Converts settings to options. Throws with advice if they are invalid. */
export const dockerOptions = (
  settings: DockerSettings,
): Pick<DockerRunnersOptions, 'engine' | 'tls' | 'auths' | 'volumes'> & {
  readonly images: readonly string[]
  readonly networks: readonly string[]
} => ({
  ...engineAddress(settings),
  auths: readRegistryAuths(readDockerFile(settings.dockerConfig, 'config.json')),
  images: settings.dockerImages,
  volumes: settings.dockerVolumes,
  networks: settings.dockerNetworks,
})
