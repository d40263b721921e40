import {
  RunnerUnavailableError,
  type Command,
  type CommandIo,
  type Outcome,
  type Runner,
  type RunnerContext,
} from '@scanfarm/contracts'
import { withProbeFile } from '../probe-file.ts'
import { folderAround, foldersOf } from '../run-folders.ts'
import { sentFiles } from '../sent-files.ts'
import type { SftpFiles } from './sftp-files.ts'
import type { RemoteHost } from './remote-host.ts'
import { errorText } from '@scanfarm/platform'

interface RemoteFolder {
  /** The host and this machine see the same files. */
  readonly shared: boolean
  /** It did not exist before. */
  readonly created: boolean
}

/** Creates the run's folders on the host, at the same paths as on this machine. */
export async function prepareFolder(host: RemoteHost, context: RunnerContext): Promise<RemoteFolder> {
  const { folder, signal } = context
  return await withProbeFile(
    folder,
    async (probe) =>
      await host.withFiles(async (files) => {
        const created = await makeFolder(files, folder)
        for (const other of foldersOf(context)) if (other !== folder) await makeFolder(files, other)
        return { created, shared: await files.exists(probe) }
      }, signal),
  )
}

async function makeFolder(files: SftpFiles, folder: string): Promise<boolean> {
  try {
    return await files.makeFolder(folder)
  } catch (error) {
    const why = errorText(error)
    throw new RunnerUnavailableError(
      `the run's folder ${folder} cannot be created on the ssh host (${why}): give its user the permission, or keep runs in a folder that exists on both machines`,
      { cause: error },
    )
  }
}

/** Runs commands of a run on an ssh host. */
export class SshRunner implements Runner {
  readonly type = 'ssh'
  readonly facts: Readonly<Record<string, string>>
  readonly sharesFiles: boolean
  readonly #host: RemoteHost
  readonly #context: RunnerContext
  readonly #removes: boolean

  constructor(
    host: RemoteHost,
    context: RunnerContext,
    remoteFolder: RemoteFolder,
    facts: Readonly<Record<string, string>>,
  ) {
    this.#host = host
    this.#context = context
    this.#removes = remoteFolder.created && !remoteFolder.shared
    this.sharesFiles = remoteFolder.shared
    this.facts = facts
  }

  run(command: Command, io: CommandIo): Promise<Outcome> {
    return this.#host.commands.run(command, io)
  }

  async push(path: string, signal: AbortSignal): Promise<void> {
    if (!this.sharesFiles)
      await this.#host.withFiles((files) => files.push(path, sentFiles(path, this.#context), signal), signal)
  }

  async pull(path: string, signal: AbortSignal): Promise<void> {
    if (!this.sharesFiles)
      await this.#host.withFiles(
        (files) => files.pull(path, folderAround(path, this.#context), signal),
        signal,
      )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close(this.#removes ? this.#context.folder : undefined)
  }
}
