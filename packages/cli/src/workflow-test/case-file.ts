import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { compile, WorkflowCase, type CaseContent } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { parse, stringify } from 'yaml'
import { CliError, EXIT } from '../exit.ts'

const read = compile(WorkflowCase, { subject: 'case' })

export const readCase = async (file: string): Promise<WorkflowCase> => {
  try {
    return read(parse(await readFile(file, 'utf8')))
  } catch (error) {
    throw new CliError(EXIT.failed, `${file} is not a case: ${errorText(error)}`)
  }
}

export const writeCase = async (file: string, one: WorkflowCase): Promise<void> => {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, stringify(one, { lineWidth: 0, aliasDuplicateObjects: false }))
}

/** Bytes that are no text, or that YAML would change, are kept as base64. */
export const contentOf = (bytes: Buffer, hide: (text: string) => string): CaseContent => {
  const text = bytes.toString('utf8')
  return text.includes('\0') || !Buffer.from(text).equals(bytes)
    ? { base64: bytes.toString('base64') }
    : hide(text)
}

export const bytesOf = (content: CaseContent, show: (text: string) => string): Buffer =>
  typeof content === 'string' ? Buffer.from(show(content)) : Buffer.from(content.base64, 'base64')
