import type Docker from 'dockerode'
import type { ContainerCreateOptions } from 'dockerode'
import { connectEngine, reachEngine, statusOf } from '@scanfarm/runners'
import {
  CloudError,
  type CloudProvider,
  type Machine,
  type MachineKind,
  type MachineRequest,
} from '../../provider.ts'
import { callOnce, callWithRetry, type CallLimits } from '../calls.ts'
import { bootFiles } from './boot-files.ts'
import {
  checkKind,
  containerName,
  containerOptions,
  DEFAULT_TYPE,
  engineError,
  filterOf,
  finalConsoleOutput,
  isKind,
  machineOf,
  REGION,
  type Engine,
} from './container.ts'
import { findPrograms } from './image-files.ts'
import { imageOf } from './image.ts'
import { provideNetwork } from './network.ts'
import { readUserData, type UserData } from './user-data.ts'

export { provideNetwork, removeNetwork, type MachineNetwork } from './network.ts'

export interface LocalSettings {
  /** A path, or a URL like `unix:///run/docker.sock`. */
  readonly dockerSocket: string
  /** An image with a shell and sshd. Undefined: an image of this system's own programs, built on first use. */
  readonly image: string | undefined
}

/** The image may have to be pulled or built. */
const CREATE_TIMEOUT_MS = 600_000
/** Of all farms on the engine. */
const MOST_MACHINES = 100
const USER = 'scan'

/** Machines are containers of the docker engine on this system: for development and tests. */
export async function createLocalProvider(
  settings: LocalSettings,
  limits: CallLimits = {},
): Promise<CloudProvider> {
  const engine = await connectEngine({ engine: settings.dockerSocket })
  return new LocalProvider(engine, settings, limits)
}

class LocalProvider implements CloudProvider {
  readonly name = 'local'
  readonly defaults = { region: REGION, type: DEFAULT_TYPE, sshUser: USER }
  readonly #docker: Docker
  readonly #settings: LocalSettings
  readonly #limits: CallLimits
  readonly #closing = new AbortController()
  #image: Promise<string> | undefined
  #network: Promise<string> | undefined

  constructor(docker: Docker, settings: LocalSettings, limits: CallLimits) {
    this.#limits = limits
    this.#docker = docker
    this.#settings = settings
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.#call(async () => {
      await reachEngine(this.#docker, { engine: this.#settings.dockerSocket })
      if (this.#settings.image === undefined) await findPrograms()
    }, signal)
  }

  async create(request: MachineRequest, signal: AbortSignal): Promise<Machine> {
    checkKind(request)
    const boot = readUserData(request.userData)
    return await callOnce((limit) => this.#create(request, boot, limit), {
      signal,
      problemOf: engineError,
      timeoutMs: this.#limits.timeoutMs ?? CREATE_TIMEOUT_MS,
    })
  }

  async describe(id: string, signal: AbortSignal): Promise<Machine | undefined> {
    return await this.#call((limit) => this.#find(id, limit), signal)
  }

  async destroy(id: string, signal: AbortSignal): Promise<void> {
    await this.#call(async (abortSignal) => {
      await this.#docker
        .getContainer(id)
        .remove({ force: true, v: true, abortSignal })
        .catch((error: unknown) => {
          // It is gone or being removed.
          if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error
        })
    }, signal)
  }

  async list(farm: string, signal: AbortSignal): Promise<Machine[]> {
    return await this.#call(async (abortSignal) => {
      const filters = filterOf({ farm })
      const found = await this.#docker.listContainers({ all: true, filters, abortSignal })
      const machines = await Promise.all(found.map(({ Id: id }) => this.#find(id, abortSignal)))
      return machines.filter((machine) => machine !== undefined)
    }, signal)
  }

  async price({ region, type }: MachineKind): Promise<number | undefined> {
    return isKind(region, type) ? 0 : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new CloudError('unavailable', 'the local provider is closed'))
  }

  #call<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    return callWithRetry(call, { ...this.#limits, signal, problemOf: engineError })
  }

  async #find(id: string, abortSignal: AbortSignal): Promise<Machine | undefined> {
    const container = this.#docker.getContainer(id)
    try {
      const machine = machineOf(await container.inspect({ abortSignal }))
      if (machine.state !== 'stopping') return machine
      return {
        ...machine,
        message: [machine.message, await finalConsoleOutput(container, abortSignal)].join(''),
      }
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  /** Returns the existing machine if there is one of this name. */
  async #create(request: MachineRequest, boot: UserData, abortSignal: AbortSignal): Promise<Machine> {
    const there = await this.#find(containerName(request.labels.farm, request.name), abortSignal)
    if (there !== undefined) return there
    await this.#refuseTooMany(abortSignal)
    try {
      return await this.#start(request, boot, abortSignal)
    } catch (error) {
      if (statusOf(error) !== 404) throw error
      // The unused image or network was removed.
      this.#image = this.#network = undefined
      return await this.#start(request, boot, abortSignal)
    }
  }

  /** Removes a container that cannot be started. */
  async #start(request: MachineRequest, boot: UserData, abortSignal: AbortSignal): Promise<Machine> {
    const options = containerOptions(request, await this.#openEngine())
    abortSignal.throwIfAborted()
    const container = await this.#createContainer(options)
    // A concurrent call with the same name is starting it.
    if (container === undefined) return await this.#existing(options.name ?? '', abortSignal)
    try {
      await container.putArchive(bootFiles(boot, request.userData), { path: '/', abortSignal })
      await container.start({ abortSignal })
      return machineOf(await container.inspect({ abortSignal }))
    } catch (error) {
      await container.remove({ force: true, v: true })
      abortSignal.throwIfAborted()
      if (statusOf(error) === undefined || statusOf(error) === 404) throw error
      throw new CloudError('refused', engineError(error).message, { cause: error })
    }
  }

  /** Undefined when the name is taken. */
  async #createContainer(options: ContainerCreateOptions): Promise<Docker.Container | undefined> {
    try {
      return await this.#docker.createContainer(options)
    } catch (error) {
      if (statusOf(error) === 409) return undefined
      throw error
    }
  }

  async #existing(name: string, abortSignal: AbortSignal): Promise<Machine> {
    const machine = await this.#find(name, abortSignal)
    if (machine === undefined) throw new CloudError('unavailable', `the container ${name} was removed`)
    return { ...machine, state: 'starting' }
  }

  async #refuseTooMany(abortSignal: AbortSignal): Promise<void> {
    const all = await this.#docker.listContainers({ all: true, filters: filterOf({}), abortSignal })
    if (all.length >= MOST_MACHINES)
      throw new CloudError(
        'capacity',
        `the engine has ${all.length} machines; at most ${MOST_MACHINES} are allowed`,
      )
  }

  /** Image and network are created once for all machines, also when the first caller is aborted. */
  async #openEngine(): Promise<Engine> {
    const { cpus, mapsUsers } = await reachEngine(this.#docker, { engine: this.#settings.dockerSocket })
    this.#image ??= imageOf(this.#docker, this.#settings.image, this.#closing.signal)
    this.#network ??= provideNetwork(this.#docker).then(({ id }) => id)
    try {
      const [imageId, network] = await Promise.all([this.#image, this.#network])
      return { imageId, network, cpus, publish: mapsUsers || process.platform !== 'linux' }
    } catch (error) {
      this.#image = this.#network = undefined
      throw error
    }
  }
}
