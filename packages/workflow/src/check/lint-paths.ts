import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { messageOf } from '../fault.ts'
import { openFile } from '../library/file-library.ts'
import { openLibrary, type WorkflowLibrary } from '../library/library.ts'
import { resolveWorkflow } from '../library/resolve.ts'
import { folderSource } from '../library/source.ts'
import { READ_LIMITS, type ReadLimits } from '../limits.ts'
import { hasErrors, inOrder, WorkflowError, type Problem } from '../problem.ts'
import { looksLikeWorkflow } from '../read/document.ts'
import { lint } from './lint.ts'

export interface LintedPaths {
  /** Workflow files that were looked at. */
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

/** What cannot be told from the file alone: parents and modules that do not exist or are broken, circles of inheritance. */
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

/** Of a folder, only what is not found below it is looked for around each file. */
const referencesOf = async (at: PlaceInLibrary, path: string, shown: string): Promise<Problem[]> => {
  const { library, inside, folders } = at
  const found = library === undefined ? [] : references(library, inside, shown)
  if (library !== undefined && !found.some(({ rule }) => rule === 'unknown-workflow')) return found
  return references(await openFile(path, { folders }), path, shown)
}

interface PlaceInLibrary {
  /** Of the folder that was named; none for a file. */
  readonly library: WorkflowLibrary | undefined
  readonly inside: string
  readonly folders: readonly string[]
}

/** A person at a terminal gets all of them. */
const ALL_PROBLEMS: ReadLimits = { ...READ_LIMITS, problems: Number.POSITIVE_INFINITY }

const lintFile = async (path: string, shown: string, place: PlaceInLibrary): Promise<Problem[]> => {
  const { size } = await stat(path)
  if (size > READ_LIMITS.fileBytes) {
    return [problemOf(shown, 'too-big', `The file is larger than ${READ_LIMITS.fileBytes} bytes.`)]
  }
  const problems = lint(await readFile(path, 'utf8'), shown, { limits: ALL_PROBLEMS })
  return hasErrors(problems) ? problems : [...problems, ...(await referencesOf(place, path, shown))]
}

/**
 * Checks files, and all workflow files below folders, with everything they refer to. References are looked for beside
 * a file, below the folder that was named, and in `folders`.
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
      // Other YAML lies beside workflows; what was named itself is always meant.
      if (isFolder && !looksLikeWorkflow(await readFile(file, 'utf8'))) continue
      files++
      problems.push(...(await lintFile(file, shown, { library, inside, folders })))
    }
  }
  return { files, problems: inOrder(problems) }
}
