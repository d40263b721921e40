import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { WorkflowKind } from '@scanfarm/contracts'
import { openFile, openLibrary } from '@scanfarm/engine'
import type { Problem, ResolvedWorkflow } from '@scanfarm/language'
import { renderProblems, resolveWorkflow, WorkflowError } from '@scanfarm/language'
import { plain } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Config } from '../settings.ts'
import { keepingChecks } from './kept-checks.ts'

const SHIPPED = join(import.meta.dirname, '../../../../workflows')

const isFile = (name: string): boolean => /\.ya?ml$/i.test(name) && existsSync(name)

/** `file:line:column: severity: message [rule]`, the format of editors and CI systems. The hint is on its own line. */
export const problemLines = (problems: readonly Problem[]): string[] =>
  problems.flatMap((problem) => renderProblems([problem], 'text').split('\n').map(plain))

const resolved = (...args: Parameters<typeof resolveWorkflow>): ResolvedWorkflow => {
  try {
    return resolveWorkflow(...args)
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error
    // The message names the first problem, the list names all.
    const lines = problemLines(error.problems)
    const head = lines.length === 0 ? error.message : `the workflow ${args[1].name} cannot be used:`
    throw new CliError(EXIT.failed, [head, ...lines].join('\n'))
  }
}

/** The folder of a workflow that is named by its file. */
export const folderOfFile = (name: string): string | undefined =>
  isFile(name) ? dirname(resolve(name)) : undefined

/** The folders in which workflows are searched by name: those of the settings, then the shipped ones. */
export const workflowFolders = (config: Config): string[] => [...config.workflows.folders, SHIPPED]

/**
 * Loads a workflow and everything it refers to. `name` is a file, whose references are searched in its folder, or a
 * name, which is searched in the folders of the settings and in the shipped workflows.
 */
export const findWorkflow = async (
  config: Config,
  name: string,
  kind?: WorkflowKind,
): Promise<ResolvedWorkflow> => {
  if (/^\.{0,2}\/|\.ya?ml$/i.test(name) && !existsSync(name))
    throw new CliError(EXIT.usage, `${name} cannot be read: it does not exist`)
  const folders = workflowFolders(config)
  const check = keepingChecks()
  const library = isFile(name)
    ? await openFile(name, { folders, check })
    : await openLibrary(folders, { check })
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
