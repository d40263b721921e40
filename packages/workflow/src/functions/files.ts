import { createWriteStream } from 'node:fs'
import { copyFile, lchown, mkdir, open, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { once } from 'node:events'
import type { Json } from '../model.ts'
import { codeOf } from '../fault.ts'
import { textArg, type FunctionContext } from './define.ts'

/** What functions make belongs to whom commands run as, or the next command could not work with it. */
const own = async (path: string, { owner }: Pick<FunctionContext, 'owner'>): Promise<void> => {
  if (owner !== undefined) await lchown(path, owner.uid, owner.gid).catch(() => undefined)
}

/** A path of the author: relative ones begin in the run's folder. */
export const pathArg = (args: readonly Json[], index: number, { folders }: FunctionContext): string => {
  const text = textArg(args, index).trim()
  if (text === '') throw new Error(`argument ${index + 1} must be a path`)
  return isAbsolute(text) ? text : join(folders.output, text)
}

export const makeFolder = async (path: string, context: Pick<FunctionContext, 'owner'>): Promise<void> => {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined || context.owner === undefined) return
  for (let at = resolve(path); at.length >= first.length; at = dirname(at)) await own(at, context)
}

export const writeText = async (path: string, text: string, context: FunctionContext): Promise<void> => {
  await makeFolder(dirname(path), context)
  await writeFile(path, text)
  await own(path, context)
}

/** A file written line by line, beside the real one and put in its place at the end, so that it may also be read. */
export interface LineWriter {
  write(line: string): Promise<void>
  /** Puts the file in place and answers the number of lines. */
  finish(): Promise<number>
  abandon(): Promise<void>
}

export const lineWriter = async (path: string, context: FunctionContext): Promise<LineWriter> => {
  await makeFolder(dirname(path), context)
  const scratch = `${path}.${context.ports.uuid().slice(0, 8)}.tmp`
  const stream = createWriteStream(scratch)
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
      await own(scratch, context)
      await rename(scratch, path)
      return lines
    },
    async abandon() {
      await end()
      await rm(scratch, { force: true })
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

export const isThere = async (path: string): Promise<boolean> =>
  await stat(path).then(
    () => true,
    () => false,
  )

export const kindOf = async (path: string): Promise<'file' | 'folder' | undefined> => {
  const facts = await stat(path).catch(() => undefined)
  if (facts === undefined) return undefined
  return facts.isDirectory() ? 'folder' : 'file'
}

export const appendFile = async (
  dest: string,
  source: string,
  context: FunctionContext,
): Promise<boolean> => {
  if (!(await isThere(source))) return false
  await makeFolder(dirname(dest), context)
  const [from, to]: [FileHandle, FileHandle] = [await open(source, 'r'), await open(dest, 'a')]
  try {
    const buffer = Buffer.alloc(64 * 1024)
    for (;;) {
      const { bytesRead } = await from.read(buffer)
      if (bytesRead === 0) break
      await to.write(buffer, 0, bytesRead)
    }
  } finally {
    await from.close()
    await to.close()
  }
  await own(dest, context)
  return true
}

export const moveFile = async (source: string, dest: string, context: FunctionContext): Promise<boolean> => {
  if (!(await isThere(source))) return false
  await makeFolder(dirname(dest), context)
  try {
    await rename(source, dest)
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error
    await copyFile(source, dest)
    await rm(source)
  }
  await own(dest, context)
  return true
}
