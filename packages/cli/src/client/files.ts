import { openAsBlob } from 'node:fs'
import { access, constants, open, readFile, stat, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { errorText, fileErrorText } from '@scanfarm/platform'
import { CliError, EXIT } from '../exit.ts'
import { printLine, type Terminal } from '../terminal.ts'

const bodyOf = ({ body }: Response): Readable => {
  if (body === null) throw new CliError(EXIT.unreachable, 'the answer of the server has no content')
  return Readable.fromWeb(body as ReadableStream<Uint8Array>)
}

export const notWritten = (path: string, error: unknown): CliError => {
  const noFolder = Error.isError(error) && 'code' in error && error.code === 'ENOENT'
  const why = noFolder ? 'its folder does not exist' : fileErrorText(error)
  return new CliError(EXIT.failed, `${path} cannot be written: ${why}`)
}

const isOfOutput = (error: unknown): boolean =>
  Error.isError(error) && 'syscall' in error && error.syscall === 'write'

/** Writes the content of an answer to a file. */
export const saveBody = async (answer: Response, path: string): Promise<void> => {
  let file: FileHandle
  try {
    file = await open(path, 'w')
  } catch (error) {
    await answer.body?.cancel()
    throw notWritten(path, error)
  }
  await copy(bodyOf(answer), file.createWriteStream(), path)
}

/** Writes the content of an answer to a file and prints its name, or without one to standard output. */
export const writeBody = async (terminal: Terminal, answer: Response, path?: string): Promise<void> => {
  if (path === undefined) return await copy(bodyOf(answer), terminal.out, 'the output', false)
  await saveBody(answer, path)
  printLine(terminal, path)
}

const copy = async (
  body: Readable,
  output: NodeJS.WritableStream,
  name: string,
  end = true,
): Promise<void> => {
  try {
    await pipeline(body, output, { end })
  } catch (error) {
    if (isOfOutput(error)) throw notWritten(name, error)
    throw new CliError(
      EXIT.unreachable,
      `${name} is not complete: the answer was cut off: ${errorText(error)}`,
    )
  }
}

const blobOf = async (file: string): Promise<Blob> => {
  const facts = await stat(file)
  if (facts.isDirectory()) throw new Error('it is a directory')
  // `openAsBlob` does not say why a file cannot be opened, and treats a pipe as an empty file.
  await access(file, constants.R_OK)
  return facts.isFile() ? await openAsBlob(file) : new Blob([Uint8Array.from(await readFile(file))])
}

/** A file as the body of a request; it is read while it is sent. */
export const readBlob = async (file: string): Promise<Blob> => {
  try {
    return await blobOf(file)
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} cannot be read: ${fileErrorText(error)}`)
  }
}
