import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readlinkSync,
  type Dirent,
  type Stats,
} from 'node:fs'
import { lchown, open, opendir, rename, rmdir, symlink, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { codeOf, unless } from './errors.ts'

export interface User {
  readonly uid: number
  readonly gid: number
}

/** The name of an entry. It may be bytes, since names need not be UTF-8. */
export type Name = string | Buffer

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
/** Refers to a file without opening it: needs no right to read, and has no effect on devices. Node has no name for the flag. */
const O_PATH = 0o10000000
/** Maximum number of names that are read from one folder at once. */
const MAX_NAMES = 1_000_000
/** Names that are read without waiting: most folders have fewer, and waiting costs more than reading them. */
const NAMES_AT_ONCE = 1_000
/** The encoding that keeps every byte. */
const LATIN1 = { encoding: 'latin1' } as const
const nameOf = ({ name }: Dirent): Buffer => Buffer.from(name, 'latin1')
const PATH_FLAGS = O_PATH | O_NOFOLLOW

export const descriptorPath = ({ fd }: { readonly fd: number }): string => `/proc/self/fd/${fd}`

/** A file, folder, link or device by its descriptor: it stays the same whatever happens to its name. */
export class PathHandle implements Disposable {
  readonly #fd: number
  #isOpen = true
  #facts: Stats | undefined

  constructor(fd: number, facts?: Stats) {
    this.#fd = fd
    this.#facts = facts
  }

  /** The path of the descriptor. The kernel takes it as the file itself, without looking up a name. */
  get path(): string {
    return descriptorPath({ fd: this.#fd })
  }

  /** From when they were first read. */
  get facts(): Stats {
    return (this.#facts ??= fstatSync(this.#fd))
  }

  /** The present name, for messages. */
  get shownPath(): string {
    return readlinkSync(this.path)
  }

  /** Opens the file. Check first that it is a regular file: opening a device may have effects. */
  async open(flags: number = O_RDONLY): Promise<FileHandle> {
    return await open(this.path, (flags | O_NONBLOCK) & ~(O_CREAT | O_EXCL | O_NOFOLLOW))
  }

  chown({ uid, gid }: User): void {
    chownSync(this.path, uid, gid)
  }

  /** Not for links, whose mode cannot be changed. */
  chmod(mode: number): void {
    chmodSync(this.path, mode)
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#fd)
  }
}

interface NewFile {
  readonly owner?: User | undefined
  readonly mode?: number
}

/** A folder by its descriptor. Each method uses one entry of exactly this folder, and never follows a link. */
export class Folder extends PathHandle {
  /** Opens a folder by its path. Only for paths that no command can change. */
  static at(path: string): Folder {
    return new Folder(openSync(path, O_PATH | O_DIRECTORY))
  }

  /** As `at`; makes the folder and its parents if they are missing. New ones belong to `owner`. */
  static made(path: string, owner?: User): Folder {
    try {
      return Folder.at(path)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
    const first = mkdirSync(path, { recursive: true })
    if (first !== undefined && owner !== undefined)
      for (let at = resolve(path); at.length >= first.length; at = dirname(at)) {
        using folder = Folder.at(at)
        folder.chown(owner)
      }
    return Folder.at(path)
  }

  /** An entry of any kind; a folder is a `Folder`. Throws ENOENT if it does not exist. */
  entry(name: Name): PathHandle {
    const fd = openSync(this.#at(name), PATH_FLAGS)
    const facts = fstatSync(fd)
    return facts.isDirectory() ? new Folder(fd, facts) : new PathHandle(fd, facts)
  }

  /** Undefined if it does not exist. */
  factsOf(name: Name): Stats | undefined {
    try {
      return lstatSync(this.#at(name))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** The folder of this name; undefined if it is not a folder, or a link. Throws ENOENT if it does not exist. */
  folder(name: Name): Folder | undefined {
    try {
      return new Folder(openSync(this.#at(name), PATH_FLAGS | O_DIRECTORY))
    } catch (error) {
      if (['ENOTDIR', 'ELOOP'].includes(codeOf(error))) return undefined
      throw error
    }
  }

  /** Makes the folder unless it exists; a new one belongs to `owner`. Undefined if the name is not that of a folder. */
  makeFolder(
    name: Name,
    { owner, mode = 0o777 }: { owner?: User | undefined; mode?: number } = {},
  ): Folder | undefined {
    try {
      mkdirSync(this.#at(name), mode)
    } catch (error) {
      // Another program may have made it meanwhile.
      if (codeOf(error) !== 'EEXIST') throw error
      return this.folder(name)
    }
    const folder = this.folder(name)
    if (owner !== undefined) folder?.chown(owner)
    return folder
  }

  /** Creates a file for writing; throws EEXIST if the name is taken, also by a link. */
  async create(
    name: Name,
    { flags = O_WRONLY, mode = 0o666 }: { flags?: number; mode?: number | undefined } = {},
  ): Promise<FileHandle> {
    return await open(this.#at(name), flags | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  }

  /** The target of a link; undefined if it is not a link. */
  linkOf(name: Name): string | undefined {
    try {
      return readlinkSync(this.#at(name))
    } catch {
      return undefined
    }
  }

  /** Removes a file or link; rejects with EISDIR for a folder. */
  async unlink(name: Name): Promise<void> {
    await unlink(this.#at(name))
  }

  /** Removes an empty folder. */
  async rmdir(name: Name): Promise<void> {
    await rmdir(this.#at(name))
  }

  /**
   * Writes a file under a fresh name, which then replaces the entry: readers never see a part of it, and a link is
   * replaced, not followed. The file belongs to `owner`.
   */
  async replace(name: string, write: (file: FileHandle) => Promise<void>, options?: NewFile): Promise<void> {
    await using _ = await this.openNew(name, write, options)
  }

  /** As `replace`; resolves to the open file. */
  async openNew(
    name: string,
    write: (file: FileHandle) => Promise<void>,
    { owner, mode }: NewFile = {},
  ): Promise<FileHandle> {
    const scratch = `${name}.${randomUUID()}.tmp`
    const file = await this.create(scratch, { mode })
    try {
      if (owner !== undefined) await file.chown(owner.uid, owner.gid)
      await write(file)
      await this.rename(scratch, this, name)
      return file
    } catch (error) {
      await file.close()
      await this.unlink(scratch).catch(unless(['ENOENT'], () => {}))
      throw error
    }
  }

  /** Makes a link, which replaces an entry that is not a folder. It belongs to `owner`. */
  async link(name: string, target: string, owner?: User): Promise<void> {
    const scratch = `${name}.${randomUUID()}.tmp`
    await symlink(target, this.#at(scratch))
    try {
      if (owner !== undefined) await lchown(this.#at(scratch), owner.uid, owner.gid)
      await this.rename(scratch, this, name)
    } catch (error) {
      await this.unlink(scratch).catch(unless(['ENOENT'], () => {}))
      throw error
    }
  }

  /** Renames an entry, into another folder too. Replaces a file or link of the new name. */
  async rename(name: Name, to: Folder, newName: Name): Promise<void> {
    await rename(this.#at(name), to.#at(newName))
  }

  /** All names, in the order of their bytes. */
  async names(): Promise<Buffer[]> {
    const names: Buffer[] = []
    const folder = opendirSync(this.path, LATIN1)
    try {
      for (;;) {
        const found = names.length < NAMES_AT_ONCE ? folder.readSync() : await folder.read()
        if (found === null) break
        if (names.push(nameOf(found)) > MAX_NAMES)
          throw new Error(`a folder has more than ${MAX_NAMES} entries`)
      }
    } finally {
      folder.closeSync()
    }
    return names.sort((one, other) => one.compare(other))
  }

  /** The names as they are read. */
  async *eachName(): AsyncGenerator<Buffer> {
    for await (const found of await opendir(this.path, LATIN1)) yield nameOf(found)
  }

  /** The entries as they are read. Their types may be outdated. */
  async entries(): Promise<AsyncIterable<Dirent>> {
    return await opendir(this.path)
  }

  #at(name: Name): string | Buffer {
    if (name.length === 0 || name.includes('/') || name.includes('\0') || name.toString() === '..')
      throw new Error(`not the name of an entry: ${JSON.stringify(name.toString())}`)
    return typeof name === 'string'
      ? `${this.path}/${name}`
      : Buffer.concat([Buffer.from(`${this.path}/`), name])
  }
}
