import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import {
  messageOf,
  type WorkflowLibrary,
  resolveWorkflow,
  READ_LIMITS,
  type ReadLimits,
  hasErrors,
  inOrder,
  WorkflowError,
  type Problem,
  looksLikeWorkflow,
  lint,
} from '@scanfarm/language'
import { openFile } from '../library/file-library.ts'
import { FUNCTIONS } from '@scanfarm/functions'
import { folderSource, openLibrary } from '../library/open-library.ts'

export interface LintedPaths {
  /** Number of workflow files checked. */
  readonly files: number
  readonly problems: Problem[]
}

const problemOf = (file: string, rule: string, message: string): Problem => ({
  file,
  line: 0,
  column: 0,
  rule,
  severity: 'error',
  message,
  hint: '',
})

/** Problems that a single file does not show: missing or broken parents and modules, and cyclic inheritance. */
const references = (library: WorkflowLibrary, path: string, shown: string): Problem[] => {
  try {
    resolveWorkflow(library, { name: path })
    return []
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error
    return error.problems
      .filter(({ file, severity }) => file === path && severity === 'error')
      .map((problem) => ({ ...problem, file: shown }))
  }
}

/** In a folder, references that are not found below it are resolved around each file. */
const referencesOf = async (at: LibraryFile, path: string, shown: string): Promise<Problem[]> => {
  const { library, inside, folders } = at
  const found = library === undefined ? [] : references(library, inside, shown)
  if (library !== undefined && !found.some(({ rule }) => rule === 'unknown-workflow')) return found
  return references(await openFile(path, { folders }), path, shown)
}

interface LibraryFile {
  /** The library of a given folder; undefined for a single file. */
  readonly library: WorkflowLibrary | undefined
  readonly inside: string
  readonly folders: readonly string[]
}

/** The command line shows all problems. */
const ALL_PROBLEMS: ReadLimits = { ...READ_LIMITS, problems: Number.POSITIVE_INFINITY }

const lintFile = async (path: string, shown: string, known: LibraryFile): Promise<Problem[]> => {
  const { size } = await stat(path)
  if (size > READ_LIMITS.fileBytes) {
    return [problemOf(shown, 'too-big', `The file is larger than ${READ_LIMITS.fileBytes} bytes.`)]
  }
  const problems = lint(await readFile(path, 'utf8'), shown, FUNCTIONS, ALL_PROBLEMS)
  return hasErrors(problems) ? problems : [...problems, ...(await referencesOf(known, path, shown))]
}

/**
 * Checks files, and all workflow files below folders, with everything they refer to. References are resolved near the
 * file, below the given folder, and in `folders`.
 */
export const lintPaths = async (
  paths: readonly string[],
  folders: readonly string[] = [],
): Promise<LintedPaths> => {
  const problems: Problem[] = []
  let files = 0
  for (const path of paths) {
    const facts = await stat(path).catch((error: unknown) => messageOf(error))
    if (typeof facts === 'string') {
      problems.push(problemOf(path, 'not-found', facts))
      continue
    }
    const isFolder = facts.isDirectory()
    const root = resolve(isFolder ? path : dirname(path))
    const library = isFolder ? await openLibrary([root, ...folders]) : undefined
    const found = isFolder ? await folderSource(root).list() : [{ path: basename(path) }]
    for (const { path: inside } of found) {
      const file = join(root, inside)
      const shown = isFolder ? join(path, inside) : path
      // Folders may contain other YAML files. Files that were given explicitly are always checked.
      if (isFolder && !looksLikeWorkflow(await readFile(file, 'utf8'))) continue
      files++
      problems.push(...(await lintFile(file, shown, { library, inside, folders })))
    }
  }
  return { files, problems: inOrder(problems) }
}
