import { fileErrorText } from '@scanfarm/platform'
import { openAsBlob } from 'node:fs'
import { access, constants, readFile, stat } from 'node:fs/promises'
import { CliError, EXIT } from '../exit.ts'

const blobOf = async (file: string): Promise<Blob> => {
  const facts = await stat(file)
  if (facts.isDirectory()) throw new Error('it is a directory')
  // `openAsBlob` reports every problem in the same words, and takes a pipe for an empty file.
  await access(file, constants.R_OK)
  return facts.isFile() ? await openAsBlob(file) : new Blob([Uint8Array.from(await readFile(file))])
}

/** A file to be sent, read while it is sent. */
export const readBlob = async (file: string): Promise<Blob> => {
  try {
    return await blobOf(file)
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} cannot be read: ${fileErrorText(error)}`)
  }
}
