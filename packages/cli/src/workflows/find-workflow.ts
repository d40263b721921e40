import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { WorkflowKind } from '@scanfarm/contracts'
import type { Config } from '@scanfarm/platform'
import { openLibrary, resolveWorkflow, WorkflowError, type ResolvedWorkflow } from '@scanfarm/workflow'
import { CliError, EXIT } from '../exit.ts'
import { problemLines } from './problems.ts'

const SHIPPED = join(import.meta.dirname, '../../../../workflows')

const isFile = (name: string): boolean => /\.ya?ml$/i.test(name) && existsSync(name)

const resolved = (...args: Parameters<typeof resolveWorkflow>): ResolvedWorkflow => {
  try {
    return resolveWorkflow(...args)
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error
    throw new CliError(EXIT.failed, [error.message, ...problemLines(error.problems)].join('\n'))
  }
}

/** The folder of a workflow that is named by its file. */
export const folderOfFile = (name: string): string | undefined =>
  isFile(name) ? dirname(resolve(name)) : undefined

/** Where workflows are looked for by name: the folders of the settings, then the shipped ones. */
export const workflowFolders = (config: Config): string[] => [...config.workflows.folders, SHIPPED]

/**
 * The workflow with everything it refers to: a file (whose neighbours may be referred to), or a name in the folders of
 * the settings and among the shipped ones.
 */
export const findWorkflow = async (
  config: Config,
  name: string,
  kind?: WorkflowKind,
): Promise<ResolvedWorkflow> => {
  const folders = workflowFolders(config)
  const folder = folderOfFile(name)
  if (folder === undefined) return resolved(await openLibrary(folders), { name, kind })
  return resolved(await openLibrary([folder, ...folders]), { name: basename(name), kind })
}
