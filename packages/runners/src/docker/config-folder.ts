import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '@scanfarm/paths'
import { errorText } from '@scanfarm/platform'

/** The content of a file in `runner.docker_config`; undefined if it does not exist. */
export const readDockerFile = (folder: string | undefined, name: string): string | undefined => {
  if (folder === undefined) return undefined
  try {
    return readFileSync(join(folder, name), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new Error(`${name} of runner.docker_config cannot be read: ${errorText(error)}`, { cause: error })
  }
}
