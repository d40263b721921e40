import {
  constants,
  copyFile,
  lchown,
  open,
  opendir,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { once } from 'node:events'
import type { Json } from '../model.ts'
import { codeOf } from '../fault.ts'
import { NoPath, NoResult, textArg, type FunctionContext } from './define.ts'
import { ForbiddenPath, RefusedPath, type RunPlace } from './allowed.ts'
import { heldPath, hold, inAuthorsWords, inPlace } from './hold.ts'
import { requireAccess } from './permission.ts'
import { checkPath, factsOf, openFile } from './run-folder.ts'

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants

/** What functions make belongs to whom commands run as, or the next command could not work with it. */
const own = async (file: FileHandle, { owner }: RunPlace): Promise<void> => {
  if (owner !== undefined) await file.chown(owner.uid, owner.gid).catch(() => undefined)
}

/** A path of the author: relative ones begin in the run's folder; nothing is no path. */
export const runPath = (text: string, { folders }: RunPlace): string =>
  text === '' || isAbsolute(text) ? text : join(folders.output, text)

/** Throws `NoPath` where there is none. */
export const pathArg = (args: readonly Json[], index: number, place: RunPlace): string => {
  const text = textArg(args, index).trim()
  if (text === '') throw new NoPath(`argument ${index + 1} must be a path`)
  return runPath(text, place)
}

/** A path for a program, which runs as commands do and opens it by itself. */
export const programPath = async (
  args: readonly Json[],
  index: number,
  context: FunctionContext,
  access: 'read' | 'write' = 'read',
): Promise<string> => {
  const path = pathArg(args, index, context)
  await checkPath(path, context, access)
  return path
}

export const makeFolder = async (path: string, place: RunPlace): Promise<void> => {
  const held = await hold(join(path, 'made'), place, { make: true, lastLink: 'keep' })
  await held[Symbol.asyncDispose]()
}

/** Opens a file and empties it, folders above it made. A new one belongs to the owner. */
export const openNew = async (path: string, place: RunPlace): Promise<FileHandle> =>
  await openFile(path, place, O_WRONLY | O_CREAT | O_TRUNC)

export const writeText = async (path: string, text: string, place: RunPlace): Promise<void> => {
  await using file = await openNew(path, place)
  await file.writeFile(text)
}

/** A file written line by line, beside the real one and put in its place at the end, so that it may also be read. */
export interface LineWriter {
  write(line: string): Promise<void>
  /** Puts the file in place and answers the number of lines. */
  finish(): Promise<number>
  abandon(): Promise<void>
}

export const lineWriter = async (path: string, context: FunctionContext): Promise<LineWriter> => {
  const held = await hold(path, context, { make: true, lastLink: 'keep' })
  const scratch = `${held.path}.${context.ports.uuid().slice(0, 8)}.tmp`
  const file = await open(scratch, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW).catch(async (error: unknown) => {
    await held[Symbol.asyncDispose]()
    throw inAuthorsWords(error, held.path, path)
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
      await rename(scratch, held.path).catch((error: unknown) => {
        throw inAuthorsWords(error, held.path, path)
      })
      await held[Symbol.asyncDispose]()
      return lines
    },
    async abandon() {
      try {
        await end()
        await rm(scratch, { force: true })
      } finally {
        await held[Symbol.asyncDispose]()
      }
    },
  }
}

/** Writes a file out of lines; nothing is changed when that fails. */
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

export const isThere = async (path: string, place: RunPlace): Promise<boolean> =>
  (await factsOf(path, place)) !== undefined

/**
 * The answer of a function that only asks what exists. Workflows look for word lists in several places, so a path that
 * they may not use is one that does not exist; the log says why.
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

export const kindOf = async (path: string, place: RunPlace): Promise<'file' | 'folder' | undefined> => {
  const facts = await factsOf(path, place)
  if (facts === undefined) return undefined
  return facts.isDirectory() ? 'folder' : 'file'
}

/** For functions that have no result without a file. */
export const mustBeFile = async (path: string, place: RunPlace): Promise<void> => {
  if ((await kindOf(path, place)) !== 'file') throw new NoResult(`${path} is no file`)
}

export const appendFile = async (dest: string, source: string, place: RunPlace): Promise<boolean> => {
  if (!(await isThere(source, place))) return false
  await using from = await openFile(source, place, O_RDONLY)
  await using to = await openFile(dest, place, O_WRONLY | O_CREAT | O_APPEND)
  const buffer = Buffer.alloc(64 * 1024)
  for (;;) {
    const { bytesRead } = await from.read(buffer)
    if (bytesRead === 0) break
    await to.write(buffer, 0, bytesRead)
  }
  return true
}

/** A link is moved itself, when it does not lead out. */
export const moveFile = async (source: string, dest: string, place: RunPlace): Promise<boolean> => {
  if (!(await isThere(source, place))) return false
  return await inPlace(source, place, { lastLink: 'keep', write: true }, async (from) =>
    inPlace(dest, place, { make: true, lastLink: 'keep' }, async (to) => {
      await rename(from.path, to.path).catch(async (error: unknown) => {
        if (codeOf(error) !== 'EXDEV') throw error
        await copyAcross(source, to.path, place)
        await rm(from.path)
      })
      if (place.owner) await lchown(to.path, place.owner.uid, place.owner.gid).catch(() => undefined)
      return true
    }),
  )
}

const copyAcross = async (source: string, to: string, place: RunPlace): Promise<void> => {
  const file = await openFile(source, place, O_RDONLY)
  try {
    // What was there is replaced, as renaming does, and not written into: it may be a link.
    await rm(to, { force: true })
    await copyFile(heldPath(file), to, constants.COPYFILE_EXCL)
  } finally {
    await file.close()
  }
}

/** Names in a folder; none when it is not there. */
export const namesIn = async (path: string, place: RunPlace): Promise<string[]> => {
  const names: string[] = []
  for await (const { name } of entriesOf(path, place)) names.push(name)
  return names
}

/** Entries of a folder; none when it is not there, or is none. */
export const entriesOf = async function* (path: string, place: RunPlace) {
  const held = await hold(join(path, 'entry'), place, { lastLink: 'keep' }).catch((error: unknown) => {
    if (error instanceof RefusedPath) throw error
    return undefined
  })
  if (held === undefined) return
  await using _ = held
  const folder = join(held.path, '..')
  if (!held.own) requireAccess(await stat(folder), place.owner, 'read', path)
  const entries = await opendir(folder).catch(() => undefined)
  if (entries !== undefined) yield* entries
}
