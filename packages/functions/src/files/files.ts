import { constants, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { RefusedPath, unless, withPath, type PathHandle } from '@scanfarm/paths'
import { NoResult, type Call, type FunctionContext } from '../define.ts'
import { ForbiddenPath, type FileScope } from '../paths/allowed.ts'
import { openSafePath, withSafePath, type SafePath } from '../paths/safe-paths.ts'
import { requireAccess } from '../paths/permission.ts'
import { checkPath, statOf, openFile } from '../paths/run-folder.ts'

const { O_APPEND, O_CREAT, O_RDONLY, O_TRUNC, O_WRONLY } = constants

/** New files belong to the user of commands, so that the following commands can use them. */
const own = async (file: FileHandle, { owner }: FileScope): Promise<void> => {
  if (owner !== undefined) await file.chown(owner.uid, owner.gid).catch(() => undefined)
}

/** The path of an existing file. Throws `NoResult` for another one. */
export const filePath = async (call: Call, index: number): Promise<string> => {
  const path = call.path(index)
  await mustBeFile(path, call)
  return path
}

/** A path for a program, which runs as commands do and opens the path itself. */
export const programPath = async (
  call: Call,
  index: number,
  access: 'read' | 'write' = 'read',
): Promise<string> => {
  const path = call.path(index)
  await checkPath(path, call, access)
  return path
}

export const makeFolder = async (path: string, scope: FileScope): Promise<void> => {
  const safePath = await openSafePath(join(path, 'made'), scope, { make: true, lastLink: 'keep' })
  safePath[Symbol.dispose]()
}

/** Opens and truncates a file and creates its parent folders. A new file belongs to the owner. */
export const openNew = async (path: string, scope: FileScope): Promise<FileHandle> =>
  await openFile(path, scope, O_WRONLY | O_CREAT | O_TRUNC)

export const openToAppend = async (path: string, scope: FileScope): Promise<FileHandle> =>
  await openFile(path, scope, O_WRONLY | O_CREAT | O_APPEND)

export const writeText = async (path: string, text: string, scope: FileScope): Promise<void> => {
  await using file = await openNew(path, scope)
  await file.writeFile(text)
}

/** A file that is written line by line to a temporary file, which replaces the target at the end. The target can be read meanwhile. */
export interface LineWriter {
  write(line: string): Promise<void>
  /** Replaces the target and returns the number of lines. */
  finish(): Promise<number>
  abandon(): Promise<void>
}

export const lineWriter = async (path: string, context: FunctionContext): Promise<LineWriter> => {
  const safePath = await openSafePath(path, context, { make: true, lastLink: 'keep' })
  const { folder, name } = safePath
  const scratch = `${name}.${context.ports.uuid().slice(0, 8)}.tmp`
  const file = await folder.create(scratch).catch((error: unknown) => {
    safePath[Symbol.dispose]()
    throw withPath(error, path)
  })
  await own(file, context)
  const stream = file.createWriteStream()
  let lines = 0
  const end = async (): Promise<void> => {
    stream.end()
    if (!stream.closed) await once(stream, 'close')
  }
  return {
    async write(line) {
      lines++
      if (!stream.write(`${line}\n`)) await once(stream, 'drain')
    },
    async finish() {
      await end()
      await folder.rename(scratch, folder, name).catch((error: unknown) => {
        throw withPath(error, path)
      })
      safePath[Symbol.dispose]()
      return lines
    },
    async abandon() {
      try {
        await end()
        await folder.unlink(scratch).catch(unless(['ENOENT'], () => {}))
      } finally {
        safePath[Symbol.dispose]()
      }
    },
  }
}

/** Writes lines to a file, which is unchanged if that fails. */
export const writeLines = async (
  path: string,
  lines: AsyncIterable<string> | Iterable<string>,
  context: FunctionContext,
): Promise<number> => {
  const writer = await lineWriter(path, context)
  try {
    for await (const line of lines) {
      context.signal.throwIfAborted()
      await writer.write(line)
    }
    return await writer.finish()
  } catch (error) {
    await writer.abandon()
    throw error
  }
}

export const isThere = async (path: string, scope: FileScope): Promise<boolean> =>
  (await statOf(path, scope)) !== undefined

/**
 * The result of a function that tests for existence. Workflows look for word lists in several folders, so that a path
 * that they may not use is reported as missing; the reason is logged.
 */
export const asking = async <Answer>(
  { recorder }: Pick<FunctionContext, 'recorder'>,
  ask: () => Promise<Answer>,
  no: Answer,
): Promise<Answer> => {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ForbiddenPath)) throw error
    recorder.log('warn', error.message)
    return no
  }
}

export const kindOf = async (path: string, scope: FileScope): Promise<'file' | 'folder' | undefined> => {
  const facts = await statOf(path, scope)
  if (facts === undefined) return undefined
  return facts.isDirectory() ? 'folder' : 'file'
}

/** Throws `NoResult` if the path is not a file. */
export const mustBeFile = async (path: string, scope: FileScope): Promise<void> => {
  if ((await kindOf(path, scope)) !== 'file') throw new NoResult(`${path} is not a file`)
}

export const appendFile = async (dest: string, source: string, scope: FileScope): Promise<boolean> => {
  if (!(await isThere(source, scope))) return false
  await using from = await openFile(source, scope, O_RDONLY)
  await using to = await openToAppend(dest, scope)
  const buffer = Buffer.alloc(64 * 1024)
  for (;;) {
    const { bytesRead } = await from.read(buffer)
    if (bytesRead === 0) break
    await to.write(buffer, 0, bytesRead)
  }
  return true
}

/** A link is moved itself, if its target is allowed. */
export const moveFile = async (source: string, dest: string, scope: FileScope): Promise<boolean> => {
  if (!(await isThere(source, scope))) return false
  return await withSafePath(source, scope, { lastLink: 'keep', write: true }, async (from) =>
    withSafePath(dest, scope, { make: true, lastLink: 'keep' }, async (to) => {
      using moved = from.folder.entry(from.name)
      await from.folder.rename(from.name, to.folder, to.name).catch(
        unless(['EXDEV'], async () => {
          await copyAcross(source, to, scope)
          await from.folder.unlink(from.name)
        }),
      )
      giveTo(scope, moved)
      return true
    }),
  )
}

/** A file with several names may be that of another user. */
const giveTo = ({ owner }: FileScope, handle: PathHandle): void => {
  const { facts } = handle
  if (owner === undefined || facts.uid === owner.uid || (!facts.isDirectory() && facts.nlink > 1)) return
  try {
    handle.chown(owner)
  } catch {
    // This process has no permission.
  }
}

/** The existing file is replaced, not overwritten: it may be a link. */
const copyAcross = async (source: string, { folder, name }: SafePath, scope: FileScope): Promise<void> => {
  await using from = await openFile(source, scope, O_RDONLY)
  await folder.replace(name, async (to) => await pipeline(from.createReadStream(), to.createWriteStream()), {
    owner: scope.owner,
  })
}

/** Names in a folder; none if it does not exist. */
export const namesIn = async (path: string, scope: FileScope): Promise<string[]> => {
  const names: string[] = []
  for await (const { name } of entriesOf(path, scope)) names.push(name)
  return names
}

/** Entries of a folder; none if it does not exist or is not a folder. */
export const entriesOf = async function* (path: string, scope: FileScope) {
  const safePath = await openSafePath(join(path, 'entry'), scope, { lastLink: 'keep' }).catch(
    (error: unknown) => {
      if (error instanceof RefusedPath) throw error
      return undefined
    },
  )
  if (safePath === undefined) return
  using _ = safePath
  const { folder, own } = safePath
  if (!own) requireAccess(folder.facts, scope.owner, 'read', path)
  const entries = await folder.entries().catch(() => undefined)
  if (entries !== undefined) yield* entries
}
