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
import type { RemoteFiles } from './remote-files.ts'
import type { RemoteHost } from './remote-host.ts'
import { errorText } from '@scanfarm/platform'

interface RemoteFolder {
  /** The host and this machine see the same files. */
  readonly shared: boolean
  /** It did not exist before. */
  readonly created: boolean
}

/** Creates the run's folders on the host, at the same paths as on this machine. */
export const prepareFolder = (host: RemoteHost, context: RunnerContext): Promise<RemoteFolder> =>
  withProbeFile(context.folder, (probe) =>
    explained(
      host,
      `the run's folder ${context.folder} cannot be created on`,
      async (files) => {
        const created = await files.makeFolder(context.folder)
        for (const other of foldersOf(context)) if (other !== context.folder) await files.makeFolder(other)
        return { created, shared: await files.exists(probe) }
      },
      context.signal,
    ),
  )

/** `what`: the beginning of the message if it fails, before the name of the host. */
const explained = <T>(
  host: RemoteHost,
  what: string,
  use: (files: RemoteFiles) => Promise<T>,
  signal: AbortSignal,
): Promise<T> =>
  host.withFiles(async (files) => {
    try {
      return await use(files)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RunnerUnavailableError) throw error
      const why = errorText(error)
      throw new RunnerUnavailableError(
        `${what} the ssh host ${host.name} by ${files.method} (${why})${remedyFor(why)}`,
        { cause: error },
      )
    }
  }, signal)

const remedyFor = (why: string): string => {
  if (/permission denied/i.test(why))
    return ': give its user the permission, or keep runs in a folder that exists on both machines'
  return /failure|no space|quota/i.test(why) ? ': check the free space of its disk' : ''
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
    if (this.sharesFiles) return
    await explained(
      this.#host,
      `${path} cannot be copied to`,
      (files) => files.push(path, sentFiles(path, this.#context), signal),
      signal,
    )
  }

  async pull(path: string, signal: AbortSignal): Promise<void> {
    if (this.sharesFiles) return
    await explained(
      this.#host,
      `${path} cannot be copied from`,
      (files) => files.pull(path, folderAround(path, this.#context), signal),
      signal,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close(this.#removes ? this.#context.folder : undefined)
  }
}
