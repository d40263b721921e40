import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  RunnerUnavailableError,
  type Command,
  type CommandIo,
  type Outcome,
  type Runner,
  type RunnerContext,
} from '@scanfarm/contracts'
import { folderAround, foldersOf } from '../run-folders.ts'
import type { SftpFiles } from './sftp-files.ts'
import type { SshPlace } from './ssh-place.ts'
import { messageOf } from '../error-facts.ts'

interface FolderThere {
  /** Host and this machine see the same files. */
  readonly shared: boolean
  /** It was not there before. */
  readonly made: boolean
}

/** The run's folders on the host, at the same paths as here. */
export async function prepareFolder(place: SshPlace, context: RunnerContext): Promise<FolderThere> {
  const { folder, signal } = context
  const probe = join(folder, `.scanfarm-${randomUUID()}`)
  await writeFile(probe, '')
  try {
    return await place.withFiles(async (files) => {
      const made = await makeFolder(files, folder)
      for (const other of foldersOf(context)) if (other !== folder) await makeFolder(files, other)
      return { made, shared: await files.exists(probe) }
    }, signal)
  } finally {
    await rm(probe, { force: true })
  }
}

async function makeFolder(files: SftpFiles, folder: string): Promise<boolean> {
  try {
    return await files.makeFolder(folder)
  } catch (error) {
    const why = messageOf(error)
    throw new RunnerUnavailableError(
      `the run's folder ${folder} cannot be made on the ssh host (${why}): let its user make folders there, or keep runs in a folder that exists for both`,
      { cause: error },
    )
  }
}

/** Commands of a run on an ssh host. */
export class SshRunner implements Runner {
  readonly type = 'ssh'
  readonly facts: Readonly<Record<string, string>>
  readonly sharesFiles: boolean
  readonly #place: SshPlace
  readonly #context: RunnerContext
  readonly #removes: boolean

  constructor(
    place: SshPlace,
    context: RunnerContext,
    there: FolderThere,
    facts: Readonly<Record<string, string>>,
  ) {
    this.#place = place
    this.#context = context
    this.#removes = there.made && !there.shared
    this.sharesFiles = there.shared
    this.facts = facts
  }

  run(command: Command, io: CommandIo): Promise<Outcome> {
    return this.#place.commands.run(command, io)
  }

  async push(path: string, signal: AbortSignal): Promise<void> {
    if (!this.sharesFiles) await this.#place.withFiles((files) => files.push(path, signal), signal)
  }

  async pull(path: string, signal: AbortSignal): Promise<void> {
    if (!this.sharesFiles)
      await this.#place.withFiles(
        (files) => files.pull(path, folderAround(path, this.#context), signal),
        signal,
      )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place.close(this.#removes ? this.#context.folder : undefined)
  }
}
