import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'

export interface CapabilityQuestions {
  /** Programs to look for, such as `nmap`. */
  readonly tools: readonly string[]
  /** Folders to look in, separated by colons: the PATH that commands get. */
  readonly path: string
  /** Words given by the operator, taken over as they are. */
  readonly labels?: readonly string[]
}

/**
 * The words that say what commands on this machine can do, sorted: `tool:NAME` for each program found on the path, and
 * the operator's labels.
 */
export async function detectCapabilities(questions: CapabilityQuestions): Promise<string[]> {
  const tools = await Promise.all(
    questions.tools.map(async (tool) => ((await isOnPath(tool, questions.path)) ? [`tool:${tool}`] : [])),
  )
  return [...new Set([...tools.flat(), ...(questions.labels ?? [])])].sort()
}

async function isOnPath(program: string, path: string): Promise<boolean> {
  for (const folder of path.split(':')) {
    if (folder !== '' && (await isExecutable(join(folder, program)))) return true
  }
  return false
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
