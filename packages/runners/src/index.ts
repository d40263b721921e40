export { createHostRunners, type HostRunners, type HostRunnersOptions } from './host/host-runners.ts'
export { findSandbox, sandboxWords, type Sandbox, type SandboxPaths } from './host/sandbox.ts'
export { MARKER_VARIABLE } from './marker.ts'
export { isSameProcess, processStart, userOf } from './host/process-table.ts'
export {
  createDockerRunners,
  type DockerRunners,
  type DockerRunnersOptions,
} from './docker/docker-runners.ts'
export { connectEngine, engineMessage, reachEngine, statusOf } from './docker/engine.ts'
export { tryContainer } from './docker/try-container.ts'
export { provideImage } from './docker/image.ts'
export { engineAddress, mayAnswer, type EngineAddress } from './docker/engine-address.ts'
export { dockerOptions, type DockerSettings } from './docker/docker-settings.ts'
export type { ContainerLimits } from './docker/container-plan.ts'
export type { IsLive } from './docker/sweep.ts'
export { quote } from './shell/session-script.ts'
export { connect, type Connection } from './ssh/connection.ts'
export { createSshRunners, type SshRunnersOptions } from './ssh/ssh-runners.ts'
export { makeHome } from './homes.ts'
export {
  createRunners,
  detectCapabilities,
  type CapabilityQuestions,
  type Runners,
  type RunnersOptions,
} from './runners.ts'
