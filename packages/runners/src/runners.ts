import {
  formatSshAddress,
  RunnerUnavailableError,
  type Runner,
  type RunnerContext,
  type RunnerProvider,
  type RunnerSpec,
} from '@scanfarm/contracts'
import { createDockerRunners, type DockerRunnersOptions } from './docker/docker-runners.ts'
import type { IsLive } from './docker/sweep.ts'
import { refuseVolumes } from './docker/volumes.ts'
import type { User } from './host/launcher.ts'
import { createHostRunners, type HostRunnersOptions } from './host/host-runners.ts'
import { isListed } from './listed.ts'
import { createSshRunners, type SshRunnersOptions } from './ssh/ssh-runners.ts'

export interface RunnersOptions {
  readonly host?: HostRunnersOptions
  /**
   * `images`: those that runs may use, `*` as wildcard; `volumes`: folders, with all inside them, and names of volumes
   * that runs may mount besides their own folders, `:ro` behind them for reading only; `networks`: those that runs may
   * name besides `none`. Default all. Missing: no docker.
   */
  readonly docker?: DockerRunnersOptions & {
    readonly images?: readonly string[]
    readonly volumes?: readonly string[]
    readonly networks?: readonly string[]
  }
  /** `hosts`: those that runs may reach, as `host` or `user@host:port`, `*` as wildcard; default all. Missing: no ssh. */
  readonly ssh?: SshRunnersOptions & { readonly hosts?: readonly string[] }
}

export interface Runners extends RunnerProvider {
  /** Removes containers whose attempt is not live any more; resolves with their number, 0 without docker. */
  sweepContainers(isLive: IsLive): Promise<number>
  /** Kills every process on this machine of a user that commands alone run as. */
  endUser(user: User): Promise<void>
}

const EVERYTHING = ['*']

/** All runners that the operator allows behind one door. Close the opened runners before it. */
export function createRunners(options: RunnersOptions): Runners {
  const host = createHostRunners(options.host)
  const docker = options.docker && createDockerRunners(options.docker)
  const ssh = options.ssh && createSshRunners(options.ssh)
  const providerOf = (spec: RunnerSpec): RunnerProvider => {
    if (spec.type === 'host') return host
    const provider = spec.type === 'docker' ? docker : ssh
    if (provider === undefined)
      throw new RunnerUnavailableError(`${spec.type} commands are switched off here`)
    return provider
  }
  return {
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      const provider = providerOf(spec)
      refuseUnlisted(spec, options)
      if (spec.type === 'docker')
        await refuseVolumes(spec.volumes ?? [], options.docker?.volumes ?? EVERYTHING, context)
      return await provider.open(spec, context)
    },
    async sweepContainers(isLive) {
      return (await docker?.sweepContainers(isLive)) ?? 0
    },
    endUser: (user) => host.endUser(user),
    async [Symbol.asyncDispose]() {
      await using _ = host
      await using __ = docker
      await ssh?.[Symbol.asyncDispose]()
    },
  }
}

function refuseUnlisted(spec: RunnerSpec, { docker, ssh }: RunnersOptions): void {
  if (spec.type === 'docker' && !isListed(docker?.images ?? EVERYTHING, [spec.image]))
    throw new RunnerUnavailableError(`the image ${spec.image} is not among those that the settings allow`)
  if (spec.type === 'docker') refuseNetwork(spec.network, docker?.networks ?? EVERYTHING)
  if (spec.type !== 'ssh') return
  const names = [spec.host, formatSshAddress(spec)]
  if (!isListed(ssh?.hosts ?? EVERYTHING, names))
    throw new RunnerUnavailableError(`the ssh host ${names[1]} is not among those that the settings allow`)
}

function refuseNetwork(network: string | undefined, allowed: readonly string[]): void {
  if (network === undefined || network === 'none' || isListed(allowed, [network])) return
  throw new RunnerUnavailableError(
    `the docker network ${network} is not among those that the settings allow: runner.docker_networks names them`,
  )
}
