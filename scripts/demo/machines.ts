import { createServer } from 'node:net'
import type { Machines, MachinesState } from '@scanfarm/cli/demo'
import { createLocalProvider, provideNetwork, removeNetwork } from '@scanfarm/cloud/local'
import { connectEngine } from '@scanfarm/runners'
import { answers } from '../services/docker.ts'
import { ensurePrograms, PROGRAMS } from '../services/programs.ts'
import { closeEngine, openEngine, type DemoEngine } from './engine.ts'

const CALL_MS = 60_000

/** The docker engine whose containers are the machines of the demo's cloud. Disposing removes them all. */
export class EngineMachines implements Machines {
  readonly host: string
  readonly #engine: DemoEngine
  #farm: string

  private constructor(engine: DemoEngine, host: string, farm: string) {
    this.#engine = engine
    this.host = host
    this.#farm = farm
  }

  static async open(keep: boolean): Promise<EngineMachines> {
    // The image of machines contains programs of this system.
    ensurePrograms([PROGRAMS.sshd, PROGRAMS.bash, PROGRAMS.curl, PROGRAMS.openssl])
    const engine = await openEngine(keep)
    try {
      return new EngineMachines(engine, await hostSeenBy(engine), '')
    } catch (error) {
      await closeEngine(engine)
      throw error
    }
  }

  static again({ engine, farm }: MachinesState): EngineMachines {
    return new EngineMachines(engine, '', farm)
  }

  get env(): Record<string, string> {
    return {
      SCANFARM_CLOUD_ENABLED: 'true',
      SCANFARM_CLOUD_PROVIDER: 'local',
      SCANFARM_CLOUD_ENDPOINTS: `local=${this.#engine.address}`,
    }
  }

  get state(): MachinesState {
    return { engine: this.#engine, farm: this.#farm }
  }

  async belongTo(infraId: string): Promise<void> {
    if (this.#farm === '') await this.of(infraId)
  }

  async of(infraId: string): Promise<string[]> {
    const filters = { label: [`scanfarm.infra=${infraId}`] }
    const docker = await connectEngine({ engine: this.#engine.address })
    const found = await docker.listContainers({ all: true, filters })
    this.#farm = found[0]?.Labels['scanfarm.farm'] ?? this.#farm
    return found.map(({ Labels: labels }) => labels['scanfarm.name'] ?? '')
  }

  /** If the engine is gone, its machines are gone too. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (await answers(this.#engine.address)) await this.#remove()
    } finally {
      await closeEngine(this.#engine)
    }
  }

  async #remove(): Promise<void> {
    const { address } = this.#engine
    await using provider = await createLocalProvider({ dockerSocket: address, image: undefined })
    const signal = AbortSignal.timeout(CALL_MS)
    const left = this.#farm === '' ? [] : await provider.list(this.#farm, signal)
    await Promise.all(left.map(({ id }) => provider.destroy(id, signal)))
    await removeNetwork(await connectEngine({ engine: address }))
  }
}

/** Machines can reach services on this address; other systems cannot. */
async function hostSeenBy({ address }: DemoEngine): Promise<string> {
  const docker = await connectEngine({ engine: address })
  const { gateway = '' } = await provideNetwork(docker)
  if (await canListen(gateway)) return gateway
  await removeNetwork(docker)
  throw new Error(
    `machines of the docker engine at ${address} cannot reach this system: the demo needs an engine that runs on it and ` +
      'is not rootless',
  )
}

/** An interface without containers is down, and the list only has interfaces that are up. */
const canListen = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(0, host, () => server.close(() => resolve(host !== '')))
  })
