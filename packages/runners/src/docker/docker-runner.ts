import type { Command, CommandIo, Outcome, Runner, RunnerContext } from '@scanfarm/contracts'
import { folderAround, foldersOf } from '../run-folders.ts'
import type { ContainerOpener, OpenContainer, PlanWithoutFiles } from './container-opener.ts'
import type { DockerPlace } from './docker-place.ts'
import { messageOf } from '../error-facts.ts'
import { engineMessage, statusOf } from './engine.ts'
import { handOver, type FileOwner } from './hand-over.ts'
import { packPath } from './folder-pack.ts'
import { unpackInto } from './folder-unpack.ts'

type Facts = Readonly<Record<string, string>>

/** All commands of a run in one container. */
export class KeptContainerRunner implements Runner {
  readonly type = 'docker'
  readonly facts: Facts
  readonly sharesFiles: boolean
  readonly #context: RunnerContext
  readonly #place: DockerPlace
  readonly #mounted: boolean
  readonly #fileOwner: FileOwner | undefined
  #hasMade = false

  constructor({ place, sharesFiles: mounted }: OpenContainer, plan: PlanWithoutFiles, facts: Facts) {
    this.facts = facts
    this.#fileOwner = mounted ? plan.fileOwner : undefined
    // Files that are not ours yet have to be fetched like those that are not here.
    this.sharesFiles = mounted && this.#fileOwner === undefined
    this.#context = plan.context
    this.#place = place
    this.#mounted = mounted
  }

  run(command: Command, io: CommandIo): Promise<Outcome> {
    this.#hasMade = true
    return this.#place.commands.run(command, io)
  }

  async push(path: string, signal: AbortSignal): Promise<void> {
    if (!this.#mounted) await pushTo(this.#place, path, signal)
  }

  async pull(path: string, signal: AbortSignal): Promise<void> {
    if (!this.#mounted) await pullFrom(this.#place, folderAround(path, this.#context), path, signal)
    else await this.#handOver()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place.commands[Symbol.asyncDispose]()
    if (this.#hasMade) await this.#handOver()
    await this.#place[Symbol.asyncDispose]()
  }

  async #handOver(): Promise<void> {
    if (this.#fileOwner !== undefined) await tryHandOver(this.#place, this.#context, this.#fileOwner)
  }
}

/** A new container for each command; the run's folders are brought there before and back after it where it must be. */
export class FreshContainerRunner implements Runner {
  readonly type = 'docker'
  readonly sharesFiles = true
  readonly facts: Facts
  readonly #opener: ContainerOpener
  readonly #plan: PlanWithoutFiles
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<Outcome>>()

  constructor(opener: ContainerOpener, plan: PlanWithoutFiles, facts: Facts) {
    this.facts = facts
    this.#opener = opener
    this.#plan = plan
  }

  async run(command: Command, io: CommandIo): Promise<Outcome> {
    const outcome = this.#run(command, io, AbortSignal.any([io.signal, this.#closing.signal]))
    this.#running.add(outcome)
    try {
      return await outcome
    } finally {
      this.#running.delete(outcome)
    }
  }

  async push(): Promise<void> {}
  async pull(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#running)
  }

  async #run(command: Command, io: CommandIo, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { kind: 'cancelled', killed: [] }
    const folders = foldersOf(this.#plan.context)
    let opened: OpenContainer | undefined
    try {
      opened = await this.#opener.open(this.#plan)
      if (!opened.sharesFiles) for (const folder of folders) await pushTo(opened.place, folder, signal)
      const outcome = await opened.place.commands.run(command, io, signal)
      if (!opened.sharesFiles && !signal.aborted)
        for (const folder of folders) await pullFrom(opened.place, folder, folder, signal)
      return outcome
    } catch (error) {
      if (signal.aborted) return { kind: 'cancelled', killed: [] }
      throw error
    } finally {
      if (opened !== undefined) await this.#close(opened)
    }
  }

  async #close(opened: OpenContainer): Promise<void> {
    const { context, fileOwner } = this.#plan
    if (opened.sharesFiles && fileOwner !== undefined) await tryHandOver(opened.place, context, fileOwner)
    await opened[Symbol.asyncDispose]()
  }
}

/** The files are here all the same: what may not be read or removed shows when somebody wants to. */
async function tryHandOver(place: DockerPlace, context: RunnerContext, owner: FileOwner): Promise<void> {
  try {
    await handOver(place.container, foldersOf(context), owner)
  } catch (error) {
    context.log(messageOf(error))
  }
}

async function pushTo(place: DockerPlace, path: string, signal: AbortSignal): Promise<void> {
  try {
    await place.container.putArchive(packPath(path, signal), { path: '/', abortSignal: signal })
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(`${path} could not be brought into the container: ${engineMessage(error)}`, {
      cause: error,
    })
  }
}

async function pullFrom(
  place: DockerPlace,
  folder: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await unpackInto(folder, path, await place.container.getArchive({ path }), signal)
  } catch (error) {
    signal.throwIfAborted()
    if (statusOf(error) === 404) throw new Error(`${path} does not exist in the container`, { cause: error })
    throw new Error(`${path} could not be brought back from the container: ${engineMessage(error)}`, {
      cause: error,
    })
  }
}
