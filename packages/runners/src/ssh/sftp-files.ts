import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2'
import { ReceivedFiles } from '../received-files.ts'
import { errorText } from '@scanfarm/platform'
import type { SentFile } from '../sent-files.ts'
import type { RemoteFiles } from './remote-files.ts'

const NO_SUCH_FILE = 2
/** Deeper folders are taken for a loop of links. */
const MAX_DEPTH = 64
const PERMISSIONS = 0o777

/** Files of a host over SFTP. */
export class SftpFiles implements RemoteFiles {
  readonly method = 'SFTP'
  readonly #sftp: SFTPWrapper

  constructor(sftp: SFTPWrapper) {
    this.#sftp = sftp
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#stat(path)) !== undefined
  }

  async makeFolder(path: string): Promise<boolean> {
    const facts = await this.#stat(path)
    if (facts?.isDirectory()) return false
    if (facts !== undefined) throw new Error(`${path} exists and is not a folder`)
    if (path !== '/') await this.makeFolder(dirname(path))
    try {
      await new Promise<void>((resolve, reject) => this.#sftp.mkdir(path, settled(resolve, reject)))
      return true
    } catch (error) {
      // Runs that start at the same time create common parents at the same time.
      if ((await this.#stat(path))?.isDirectory()) return false
      throw about(path, error)
    }
  }

  async push(path: string, files: AsyncIterable<SentFile>, signal: AbortSignal): Promise<void> {
    await this.makeFolder(dirname(path))
    for await (const { path: at, handle } of files) {
      signal.throwIfAborted()
      if (handle.facts.isDirectory()) await this.makeFolder(at)
      if (!handle.facts.isFile()) continue
      const file = await handle.open()
      const remote = this.#sftp.createWriteStream(at, { mode: handle.facts.mode & PERMISSIONS })
      await pipeline(file.createReadStream(), remote, { signal }).catch(rejectAbout(at))
    }
  }

  async pull(path: string, root: string, signal: AbortSignal): Promise<void> {
    const facts = await this.#stat(path)
    if (facts === undefined) throw new Error('it does not exist there')
    await this.#pullOne(path, facts, new ReceivedFiles(root), signal, 0)
  }

  async #pullOne(
    path: string,
    facts: Stats,
    files: ReceivedFiles,
    signal: AbortSignal,
    depth: number,
  ): Promise<void> {
    signal.throwIfAborted()
    if (facts.isDirectory()) {
      if (depth > MAX_DEPTH) throw new Error(`${path} is nested more than ${MAX_DEPTH} folders deep`)
      await files.folder(path)
      for (const { filename, attrs } of await this.#list(path))
        await this.#pullOne(join(path, filename), attrs, files, signal, depth + 1)
    } else if (facts.isFile()) {
      const local = await files.file(path)
      const remote = this.#sftp.createReadStream(path)
      await pipeline(remote, files.counted(), local.createWriteStream(), { signal }).catch(rejectAbout(path))
    }
  }

  #list(path: string): Promise<FileEntryWithStats[]> {
    return new Promise((resolve, reject) =>
      this.#sftp.readdir(path, (error, list) => (error ? reject(about(path, error)) : resolve(list))),
    )
  }

  #stat(path: string): Promise<Stats | undefined> {
    return new Promise((resolve, reject) =>
      this.#sftp.stat(path, (error, facts) => {
        if (!error) resolve(facts)
        else if ('code' in error && error.code === NO_SUCH_FILE) resolve(undefined)
        else reject(about(path, error))
      }),
    )
  }
}

/** The host's own message ("Permission denied") names no path. */
const about = (path: string, error: unknown): Error =>
  new Error(`${path}: ${errorText(error)}`, { cause: error })

const rejectAbout =
  (path: string) =>
  (error: unknown): never => {
    throw about(path, error)
  }

const settled =
  (resolve: () => void, reject: (error: Error) => void) =>
  (error?: Error | null): void =>
    error ? reject(error) : resolve()
