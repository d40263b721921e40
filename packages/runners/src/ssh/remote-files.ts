import type { SentFile } from '../sent-files.ts'

/** Files of a host. Paths are absolute and the same on both machines. */
export interface RemoteFiles {
  /** For messages. */
  readonly method: string
  exists(path: string): Promise<boolean>
  /** Creates the folder and its parents. True if the folder did not exist. Rejects without the permission. */
  makeFolder(path: string): Promise<boolean>
  /** Copies the files and folders of a path of this machine to the host; skips other kinds of files. */
  push(path: string, files: AsyncIterable<SentFile>, signal: AbortSignal): Promise<void>
  /** Copies a file or folder of the host into the folder `root` of this machine. */
  pull(path: string, root: string, signal: AbortSignal): Promise<void>
}
