import {
  formatSshAddress,
  RunnerUnavailableError,
  type Runner,
  type RunnerContext,
  type RunnerProvider,
  type RunnerSpec,
  type Owner,
} from '@scanfarm/contracts'
import type { DockerRunners, DockerRunnersOptions } from './docker/docker-runners.ts'
import { mayAnswer, parseEngine, type EngineAddress } from './docker/engine-address.ts'
import type { IsLive } from './docker/sweep.ts'
import { createHostRunners, type HostRunnersOptions } from './host/host-runners.ts'
import { matchesAny } from './wildcards.ts'
import type { SshRunnersOptions } from './ssh/ssh-runners.ts'

export interface RunnersOptions {
  readonly host?: HostRunnersOptions
  /** `images`, and `networks` besides `none`, that runs may use; `*`: any. Default: all. Missing: no docker. */
  readonly docker?: DockerRunnersOptions & {
    readonly images?: readonly string[]
    readonly networks?: readonly string[]
  }
  /** `hosts` that runs may use, as `host` or `user@host:port` with `*` as wildcard; default all. Missing: ssh is disabled. */
  readonly ssh?: SshRunnersOptions & { readonly hosts?: readonly string[] }
}

export interface Runners extends RunnerProvider {
  /** Removes containers whose attempt is no longer live. Resolves with their number, 0 without docker or its socket. */
  sweepContainers(isLive: IsLive): Promise<number>
  /**
   * Kills every process on this machine of a user that only commands run as. `areOurs`: all of them were started here,
   * so that they are only killed if there may be any.
   */
  endUser(user: Owner, areOurs?: boolean): Promise<void>
}

const ALL = ['*']

/** Docker and ssh have much code, which most programs never need. */
const whenNeeded = <O, P extends AsyncDisposable>(
  options: O | undefined,
  create: (options: O) => Promise<P>,
): { get(): Promise<P | undefined>; readonly got: Promise<P> | undefined } => {
  let got: Promise<P> | undefined
  return {
    get: async () => (options === undefined ? undefined : await (got ??= create(options))),
    get got() {
      return got
    },
  }
}

const dockerRunners = async (options: DockerRunnersOptions): Promise<DockerRunners> => {
  const { createDockerRunners } = await import('./docker/docker-runners.ts')
  return createDockerRunners(options)
}

const sshRunners = async (options: SshRunnersOptions): Promise<RunnerProvider> => {
  const { createSshRunners } = await import('./ssh/ssh-runners.ts')
  return createSshRunners(options)
}

/** All runners that the operator allows. Throws if the address of the docker engine is invalid. Close the opened runners before this provider. */
export function createRunners(options: RunnersOptions): Runners {
  const host = createHostRunners(options.host)
  if (options.docker !== undefined) parseEngine(options.docker.engine)
  const docker = whenNeeded(options.docker, dockerRunners)
  const ssh = whenNeeded(options.ssh, sshRunners)
  const providerOf = async (spec: RunnerSpec): Promise<RunnerProvider> => {
    if (spec.type === 'host') return host
    const provider = await (spec.type === 'docker' ? docker : ssh).get()
    if (provider === undefined)
      throw new RunnerUnavailableError(`${spec.type} commands are switched off here`)
    return provider
  }
  return {
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      const provider = await providerOf(spec)
      refuseForbidden(spec, options)
      if (spec.type !== 'host') {
        await context.prepare?.()
        if (context.owner !== undefined) host.noteOthers(context.owner)
      }
      return await provider.open(spec, context)
    },
    async sweepContainers(isLive) {
      const provider = options.docker && mayAnswer(options.docker) ? await docker.get() : undefined
      return (await provider?.sweepContainers(isLive)) ?? 0
    },
    endUser: (user, areOurs) => host.endUser(user, areOurs),
    async [Symbol.asyncDispose]() {
      await using _ = host
      await using __ = await docker.got
      await (await ssh.got)?.[Symbol.asyncDispose]()
    },
  }
}

function refuseForbidden(spec: RunnerSpec, { docker, ssh }: RunnersOptions): void {
  if (spec.type === 'docker' && !matchesAny(docker?.images ?? ALL, [spec.image]))
    throw new RunnerUnavailableError(`the image ${spec.image} is not allowed by runner.docker_images`)
  if (spec.type === 'docker') refuseNetwork(spec.network, docker?.networks ?? ALL)
  if (spec.type !== 'ssh') return
  const names = [spec.host, formatSshAddress(spec)]
  if (!matchesAny(ssh?.hosts ?? ALL, names))
    throw new RunnerUnavailableError(`the ssh host ${names[1]} is not allowed by runner.ssh_hosts`)
}

function refuseNetwork(network: string | undefined, allowed: readonly string[]): void {
  if (network === undefined || network === 'none' || matchesAny(allowed, [network])) return
  throw new RunnerUnavailableError(`the docker network ${network} is not allowed by runner.docker_networks`)
}

export interface CapabilityQuestions {
  /** Programs that commands can use, like `nmap`. */
  readonly tools: readonly string[]
  /** Labels of the operator. */
  readonly labels?: readonly string[]
  /** The engine of docker commands, if docker is enabled. */
  readonly docker?: EngineAddress
}

const isUp = async (address: EngineAddress): Promise<boolean> => {
  const { isEngineUp } = await import('./docker/engine.ts')
  return await isEngineUp(address)
}

/** Sorted capabilities of this machine: `tool:NAME` per program, `docker` if it answers, the operator's labels. */
export async function detectCapabilities(questions: CapabilityQuestions): Promise<string[]> {
  const tools = questions.tools.map((tool) => `tool:${tool}`)
  const docker = questions.docker !== undefined && (await isUp(questions.docker)) ? ['docker'] : []
  return [...new Set([...tools, ...docker, ...(questions.labels ?? [])])].sort()
}
