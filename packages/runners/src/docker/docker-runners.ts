import type Docker from 'dockerode'
import {
  RunnerUnavailableError,
  type CommandNetwork,
  type Runner,
  type RunnerContext,
  type RunnerProvider,
  type RunnerSpec,
  type Owner,
} from '@scanfarm/contracts'
import type { ContainerLimits } from './container-plan.ts'
import { containerNetwork } from './container-network.ts'
import { ContainerOpener } from './container-opener.ts'
import { PerCommandContainerRunner, PersistentContainerRunner } from './docker-runner.ts'
import { parseEngine, type EngineAddress } from './engine-address.ts'
import { connectEngine, reachEngine } from './engine.ts'
import { defaultFileOwner } from './file-owner.ts'
import { provideImage } from './image.ts'
import { withDefaults, type StopOptions } from '../interruption.ts'
import { foldersOf } from '../run-folders.ts'
import type { RegistryAuths } from './registry-auth.ts'
import { sweepContainers, type IsLive } from './sweep.ts'
import { containsVolume, planVolumes } from './volumes.ts'

export interface DockerRunnersOptions extends EngineAddress, StopOptions {
  /** Label of the containers, for example the id of the farm: a sweep removes no others. */
  readonly owner: string
  /** Limits of each container; default 2 GiB of memory, 2 CPUs, 1024 processes. */
  readonly limits?: Partial<ContainerLimits>
  /**
   * How the container gets the run's folder. `mount`: this machine's folder at the same path. `copy`: a folder of the
   * container at that path, which `push` and `pull` copy. Default: `mount` if the engine sees this machine's files, else
   * `copy`.
   */
  readonly files?: 'mount' | 'copy'
  /**
   * The user who becomes the owner of files that commands create in mounted folders; default: this program's user unless
   * it is root. With an engine that maps users, owners stay as they are.
   */
  readonly fileOwner?: Owner
  /** Credentials of registries; default none. */
  readonly auths?: RegistryAuths
  /**
   * What runs may mount besides their own folders: folders and names of volumes, with `:ro` at the end only for reading,
   * which includes everything below a folder. `*` is a wildcard. Default: all.
   */
  readonly volumes?: readonly string[]
}

export interface DockerRunners extends RunnerProvider {
  /** Removes this owner's containers whose attempt is no longer live. Resolves with their number. */
  sweepContainers(isLive: IsLive): Promise<number>
}

const DEFAULT_LIMITS: ContainerLimits = { memoryBytes: 2 * 2 ** 30, cpus: 2, pids: 1_024 }

interface Engine {
  readonly docker: Docker
  readonly opener: ContainerOpener
}

const connect = async (options: DockerRunnersOptions): Promise<Engine> => {
  const docker = await connectEngine(options)
  const opener = new ContainerOpener(docker, withDefaults(options), options.files)
  return { docker, opener }
}

/** Runs commands in containers. Throws if the engine's address is invalid. Close the runners before the provider. */
export function createDockerRunners(options: DockerRunnersOptions): DockerRunners {
  parseEngine(options.engine)
  let engine: Promise<Engine> | undefined
  const connected = (): Promise<Engine> => (engine ??= connect(options))
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const fileOwner = options.fileOwner ?? defaultFileOwner()
  return {
    async open(spec: RunnerSpec, context: RunnerContext): Promise<Runner> {
      if (spec.type !== 'docker')
        throw new RunnerUnavailableError(`the docker runner cannot run ${spec.type} commands`)
      const volumes = await planVolumes(spec.volumes ?? [], options.volumes ?? ['*'], context)
      const { docker, opener } = await connected()
      const { cpus, mapsUsers, isHere } = await reachEngine(docker, options)
      const image = await provideImage(docker, spec.image, context, options.auths)
      context.signal.throwIfAborted()
      const plan = {
        spec,
        context,
        imageId: image.id,
        owner: options.owner,
        limits,
        cpusOfEngine: cpus,
        volumes,
        fileOwner: mapsUsers || containsVolume(foldersOf(context), volumes) ? undefined : fileOwner,
      }
      const network = async (): Promise<CommandNetwork | undefined> =>
        isHere ? await containerNetwork(docker, plan) : undefined
      const facts = { image: spec.image, image_digest: image.digest }
      const runner =
        spec.persistent === false
          ? new PerCommandContainerRunner(opener, plan, facts)
          : new PersistentContainerRunner(await opener.open(plan), plan, facts)
      return Object.assign(runner, { network })
    },
    async sweepContainers(isLive) {
      const { docker } = await connected()
      return await sweepContainers(docker, options.owner, isLive)
    },
    async [Symbol.asyncDispose]() {},
  }
}
