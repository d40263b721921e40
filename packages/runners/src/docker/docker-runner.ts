import type { Command, CommandIo, Outcome, Runner, RunnerContext, Owner } from '@scanfarm/contracts'
import { RunningCommands } from '../running-commands.ts'
import { folderAround, foldersOf } from '../run-folders.ts'
import type { ContainerOpener, OpenContainer, PlanWithoutFiles } from './container-opener.ts'
import type { RunContainer } from './run-container.ts'
import { engineMessage, statusOf } from './engine.ts'
import { changeOwner } from './file-owner.ts'
import { packPath, unpackInto } from '../folder-archive.ts'

type Facts = Readonly<Record<string, string>>

/** Runs all commands of a run in one container. */
export class PersistentContainerRunner implements Runner {
  readonly type = 'docker'
  readonly facts: Facts
  readonly sharesFiles: boolean
  readonly #context: RunnerContext
  readonly #container: RunContainer
  readonly #mounted: boolean
  readonly #fileOwner: Owner | undefined
  #hasRun = false

  constructor({ container, sharesFiles: mounted }: OpenContainer, plan: PlanWithoutFiles, facts: Facts) {
    this.facts = facts
    this.#fileOwner = mounted ? plan.fileOwner : undefined
    // Files of another owner must be pulled like files that are not on this machine.
    this.sharesFiles = mounted && this.#fileOwner === undefined
    this.#context = plan.context
    this.#container = container
    this.#mounted = mounted
  }

  run(command: Command, io: CommandIo): Promise<Outcome> {
    this.#hasRun = true
    return this.#container.commands.run(command, io)
  }

  async push(path: string, signal: AbortSignal): Promise<void> {
    if (!this.#mounted) await pushTo(this.#container, this.#context, path, signal)
  }

  async pull(path: string, signal: AbortSignal): Promise<void> {
    if (!this.#mounted) await pullFrom(this.#container, folderAround(path, this.#context), path, signal)
    else await this.#changeOwner()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#container.commands[Symbol.asyncDispose]()
    if (this.#hasRun) await this.#changeOwner()
    await this.#container[Symbol.asyncDispose]()
  }

  async #changeOwner(): Promise<void> {
    if (this.#fileOwner !== undefined) await tryChangeOwner(this.#container, this.#context, this.#fileOwner)
  }
}

/** Runs each command in a new container. Without shared files, the run's folders are copied in before and out after. */
export class PerCommandContainerRunner implements Runner {
  readonly type = 'docker'
  readonly sharesFiles = true
  readonly facts: Facts
  readonly #opener: ContainerOpener
  readonly #plan: PlanWithoutFiles
  readonly #running = new RunningCommands()

  constructor(opener: ContainerOpener, plan: PlanWithoutFiles, facts: Facts) {
    this.facts = facts
    this.#opener = opener
    this.#plan = plan
  }

  async run(command: Command, io: CommandIo): Promise<Outcome> {
    return await this.#running.add(
      this.#run(command, io, AbortSignal.any([io.signal, this.#running.closing])),
    )
  }

  async push(): Promise<void> {}
  async pull(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.cancelAll()
  }

  async #run(command: Command, io: CommandIo, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { kind: 'cancelled', killed: [] }
    const { context } = this.#plan
    const folders = foldersOf(context)
    let opened: OpenContainer | undefined
    try {
      opened = await this.#opener.open(this.#plan)
      if (!opened.sharesFiles)
        for (const folder of folders) await pushTo(opened.container, context, folder, signal)
      const outcome = await opened.container.commands.run(command, io, signal)
      if (!opened.sharesFiles && !signal.aborted)
        for (const folder of folders) await pullFrom(opened.container, folder, folder, signal)
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
    if (opened.sharesFiles && fileOwner !== undefined)
      await tryChangeOwner(opened.container, context, fileOwner)
    await opened[Symbol.asyncDispose]()
  }
}

/** Does not reject: files that this program cannot read or remove fail at their next use. */
async function tryChangeOwner(container: RunContainer, context: RunnerContext, owner: Owner): Promise<void> {
  try {
    await changeOwner(container.docker, foldersOf(context), owner)
  } catch (error) {
    context.log(
      `files made in the container could not be given to user ${owner.uid}: ${engineMessage(error)}`,
    )
  }
}

async function pushTo(
  container: RunContainer,
  context: RunnerContext,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await container.docker.putArchive(packPath(path, context, signal), { path: '/', abortSignal: signal })
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(`${path} could not be copied into the container: ${engineMessage(error)}`, {
      cause: error,
    })
  }
}

async function pullFrom(
  container: RunContainer,
  folder: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await unpackInto(folder, path, await container.docker.getArchive({ path }), signal)
  } catch (error) {
    signal.throwIfAborted()
    if (statusOf(error) === 404) throw new Error(`${path} does not exist in the container`, { cause: error })
    throw new Error(`${path} could not be copied from the container: ${engineMessage(error)}`, {
      cause: error,
    })
  }
}
