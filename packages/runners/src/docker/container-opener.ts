import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import type { ContainerPlan } from './container-plan.ts'
import { DockerPlace, explainStart } from './docker-place.ts'
import { engineMessage, statusOf } from './engine.ts'
import { foldersOf } from '../run-folders.ts'
import { packFolder } from './folder-pack.ts'

export type PlanWithoutFiles = Omit<ContainerPlan, 'mountsFolder'>

export interface OpenContainer extends AsyncDisposable {
  readonly place: DockerPlace
  readonly sharesFiles: boolean
}

/** Opens containers and finds out, once, whether the engine sees this machine's files. */
export class ContainerOpener {
  readonly #docker: Docker
  readonly #graceMs: number
  #mounts: boolean | undefined

  constructor(docker: Docker, graceMs: number, files: 'mount' | 'copy' | undefined) {
    this.#docker = docker
    this.#graceMs = graceMs
    this.#mounts = files === undefined ? undefined : files === 'mount'
  }

  /** With the run's folders in it: mounted, or empty ones of its own. */
  async open(plan: PlanWithoutFiles): Promise<OpenContainer> {
    this.#mounts ??= await this.#seesOurFiles(plan)
    const place = await this.#start({ ...plan, mountsFolder: this.#mounts })
    const opened = {
      place,
      sharesFiles: this.#mounts,
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    }
    if (this.#mounts) return opened
    try {
      for (const folder of foldersOf(plan.context))
        await place.container.putArchive(packFolder(folder), { path: '/' })
      return opened
    } catch (error) {
      await place[Symbol.asyncDispose]()
      throw explainStart(error, plan.spec.image)
    }
  }

  async #start(plan: ContainerPlan): Promise<DockerPlace> {
    try {
      return await DockerPlace.start(this.#docker, plan, this.#graceMs)
    } catch (error) {
      throw explainStart(error, plan.spec.image)
    }
  }

  async #seesOurFiles(plan: PlanWithoutFiles): Promise<boolean> {
    const probe = join(plan.context.folder, `.scanfarm-${randomUUID()}`)
    await writeFile(probe, '')
    try {
      await using place = await DockerPlace.start(
        this.#docker,
        { ...plan, mountsFolder: true },
        this.#graceMs,
      )
      const answer: unknown = await place.container.infoArchive({ path: probe })
      // A body, though empty, that nobody reads would keep the connection.
      if (answer instanceof Readable) answer.resume()
      return true
    } catch (error) {
      // Another machine's folder of the same name, or no such folder there.
      if (statusOf(error) === 404 || /bind source path does not exist/.test(engineMessage(error)))
        return false
      throw explainStart(error, plan.spec.image)
    } finally {
      await rm(probe, { force: true })
    }
  }
}
