import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { LocalTarget } from '@scanfarm/functions'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'

export interface LocalPath {
  readonly path: string
  readonly kind: LocalTarget
}

const kindOf = (text: string): LocalTarget | undefined => {
  try {
    const facts = statSync(text, { throwIfNoEntry: false })
    if (facts?.isFile() === true) return 'file'
    return facts?.isDirectory() === true && text.includes('/') ? 'folder' : undefined
  } catch {
    return undefined
  }
}

/** The file of the caller that a target names, or a folder written as a path. Valid domains are no files. */
export const localTarget = async (terminal: Terminal, text: string): Promise<LocalPath | undefined> => {
  const kind = text === '' ? undefined : kindOf(text)
  if (kind === undefined) {
    // Another path may be one of the server.
    if (/^(?:\.{1,2}|~)\//.test(text)) throw new CliError(EXIT.usage, `${text} does not exist`)
    return undefined
  }
  if (!text.includes('/')) {
    const { isKnownDomain } = await import('@scanfarm/functions')
    if (isKnownDomain(text)) {
      terminal.err.write(`scanfarm: ${text} is taken for a domain; write ./${text} for the file\n`)
      return undefined
    }
  }
  return { path: resolve(text), kind }
}
