import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import type { ContainerPlan } from './container-plan.ts'
import { RunContainer, explainStart } from './run-container.ts'
import { engineMessage, statusOf } from './engine.ts'
import type { StopOptions } from '../interruption.ts'
import { withProbeFile } from '../probe-file.ts'
import { foldersOf } from '../run-folders.ts'
import { packFolder } from '../folder-archive.ts'

export type PlanWithoutFiles = Omit<ContainerPlan, 'mountsFolder'>

export interface OpenContainer extends AsyncDisposable {
  readonly container: RunContainer
  readonly sharesFiles: boolean
}

/** Opens containers. Detects once whether the engine sees the files of this machine. */
export class ContainerOpener {
  readonly #docker: Docker
  readonly #stop: Required<StopOptions>
  #mounts: boolean | undefined

  constructor(docker: Docker, stop: Required<StopOptions>, files: 'mount' | 'copy' | undefined) {
    this.#docker = docker
    this.#stop = stop
    this.#mounts = files === undefined ? undefined : files === 'mount'
  }

  /** Opens a container with the run's folders: mounted, or empty folders of the container. */
  async open(plan: PlanWithoutFiles): Promise<OpenContainer> {
    this.#mounts ??= await this.#sharesFiles(plan)
    const container = await this.#start({ ...plan, mountsFolder: this.#mounts })
    const opened = {
      container,
      sharesFiles: this.#mounts,
      [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
    }
    if (this.#mounts) return opened
    try {
      for (const folder of foldersOf(plan.context))
        await container.docker.putArchive(packFolder(folder), { path: '/' })
      return opened
    } catch (error) {
      await container[Symbol.asyncDispose]()
      throw explainStart(error, plan.spec.image)
    }
  }

  async #start(plan: ContainerPlan): Promise<RunContainer> {
    try {
      return await RunContainer.start(this.#docker, plan, this.#stop)
    } catch (error) {
      throw explainStart(error, plan.spec.image)
    }
  }

  async #sharesFiles(plan: PlanWithoutFiles): Promise<boolean> {
    return await withProbeFile(plan.context.folder, async (path) => {
      try {
        await using container = await RunContainer.start(
          this.#docker,
          { ...plan, mountsFolder: true },
          this.#stop,
        )
        const answer: unknown = await container.docker.infoArchive({ path })
        // A body that is not read, though empty, would keep the connection busy.
        if (answer instanceof Readable) answer.resume()
        return true
      } catch (error) {
        // The engine's machine has another folder of that name, or none.
        if (statusOf(error) === 404 || /bind source path does not exist/.test(engineMessage(error)))
          return false
        throw explainStart(error, plan.spec.image)
      }
    })
  }
}
