import { access, constants, copyFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText } from '@scanfarm/platform'
import { folderSource } from '@scanfarm/engine'
import { placeOf, resolveWorkflow, type WorkflowEntry, type WorkflowLibrary } from '@scanfarm/language'
import { leaveOut, newPart, note, type PartReport } from './report.ts'

const problemOf = (library: WorkflowLibrary, entry: WorkflowEntry): string | undefined => {
  const problem = entry.problems.find(({ severity }) => severity === 'error')
  if (problem !== undefined) return `${placeOf(problem)}: ${problem.message}`
  try {
    resolveWorkflow(library, { name: entry.path, kind: entry.kind })
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

/**
 * Copies the YAML files below `from` to the same paths below `to`, so that references by path stay valid. Existing
 * files with other content are not changed. Files with errors are copied too and reported.
 */
export const importWorkflows = async (
  from: string,
  to: string,
  library: WorkflowLibrary,
  dryRun: boolean,
): Promise<PartReport> => {
  const report = newPart('workflows')
  const byPath = new Map(library.list().map((entry) => [entry.path, entry]))
  for (const { path } of await folderSource(from).list()) {
    report.found += 1
    const place = join(to, path)
    const there = await readFile(place).catch(() => undefined)
    if (there !== undefined) {
      if (there.equals(await readFile(join(from, path)))) report.known += 1
      else leaveOut(report, `${path}: ${place} exists with other content and is not changed`)
      continue
    }
    const unread = await access(join(from, path), constants.R_OK).then(() => undefined, errorText)
    if (unread !== undefined) {
      leaveOut(report, `${path}: ${unread}`)
      continue
    }
    report.added += 1
    const entry = byPath.get(path)
    const problem = entry && problemOf(library, entry)
    if (problem !== undefined) note(report, `${path} was copied but cannot run: ${problem}`)
    if (dryRun) continue
    await mkdir(dirname(place), { recursive: true })
    await copyFile(join(from, path), place)
  }
  return report
}
