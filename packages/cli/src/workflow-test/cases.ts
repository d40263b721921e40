import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileErrorText } from '@scanfarm/platform'
import { CliError, EXIT } from '../exit.ts'

const YAML = /\.ya?ml$/i

/** The folder of the cases of a workflow file: `NAME.test` beside it. */
export const casesFolder = (workflow: string): string => resolve(workflow).replace(YAML, '.test')

/** Files of workflows below a folder that have cases, or the file itself. */
export const workflowsWithCases = async (path: string): Promise<string[]> => {
  const facts = await stat(path).catch((error: unknown) => {
    throw new CliError(EXIT.usage, `${path} cannot be read: ${fileErrorText(error)}`)
  })
  if (facts.isFile()) return [resolve(path)]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && YAML.test(entry.name))
    .map((entry) => resolve(entry.parentPath, entry.name))
    .filter((file) => existsSync(casesFolder(file)))
    .sort()
}

/** The files of the cases of a workflow, each `CASE.yaml`. */
export const caseFiles = async (workflow: string, only?: string): Promise<string[]> => {
  const folder = casesFolder(workflow)
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => YAML.test(name) && (only === undefined || caseName(name) === only))
    .sort()
    .map((name) => join(folder, name))
}

export const caseName = (file: string): string => basename(file).replace(YAML, '')
