import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { WorkflowKind } from '@scanfarm/contracts'
import type { Config } from '@scanfarm/platform'
import {
  openFile,
  openLibrary,
  resolveWorkflow,
  WorkflowError,
  type ResolvedWorkflow,
} from '@scanfarm/workflow'
import { CliError, EXIT } from '../exit.ts'
import { problemLines } from './problems.ts'

const SHIPPED = join(import.meta.dirname, '../../../../workflows')

const isFile = (name: string): boolean => /\.ya?ml$/i.test(name) && existsSync(name)

const resolved = (...args: Parameters<typeof resolveWorkflow>): ResolvedWorkflow => {
  try {
    return resolveWorkflow(...args)
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error
    // The message names the first problem, and the list all of them.
    const lines = problemLines(error.problems)
    const head = lines.length === 0 ? error.message : `the workflow ${args[1].name} cannot be used:`
    throw new CliError(EXIT.failed, [head, ...lines].join('\n'))
  }
}

/** The folder of a workflow that is named by its file. */
export const folderOfFile = (name: string): string | undefined =>
  isFile(name) ? dirname(resolve(name)) : undefined

/** Where workflows are looked for by name: the folders of the settings, then the shipped ones. */
export const workflowFolders = (config: Config): string[] => [...config.workflows.folders, SHIPPED]

/**
 * The workflow with everything it refers to: a file (with what it refers to around it), or a name in the folders of
 * the settings and among the shipped ones.
 */
export const findWorkflow = async (
  config: Config,
  name: string,
  kind?: WorkflowKind,
): Promise<ResolvedWorkflow> => {
  if (/^\.{0,2}\/|\.ya?ml$/i.test(name) && !existsSync(name))
    throw new CliError(EXIT.usage, `${name} cannot be read: it does not exist`)
  const folders = workflowFolders(config)
  const library = isFile(name) ? await openFile(name, { folders }) : await openLibrary(folders)
  try {
    return resolved(library, { name, kind })
  } catch (error) {
    if (
      !(error instanceof CliError) ||
      isFile(name) ||
      statSync(name, { throwIfNoEntry: false })?.isFile() !== true
    )
      throw error
    throw new CliError(
      EXIT.failed,
      `${error.message} The file ${name} is not read as one: the names of workflow files end with .yaml or .yml.`,
    )
  }
}
