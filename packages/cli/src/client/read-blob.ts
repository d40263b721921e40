import { errorText } from '@scanfarm/platform'
import { openAsBlob } from 'node:fs'
import { CliError, EXIT } from '../exit.ts'

/** A file to be sent, read while it is sent. */
export const readBlob = async (file: string): Promise<Blob> => {
  try {
    return await openAsBlob(file)
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} cannot be read: ${errorText(error)}`)
  }
}
