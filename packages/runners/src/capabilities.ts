import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineAddress } from './docker/engine-address.ts'
import { engineAnswers } from './docker/engine.ts'

export interface CapabilityQuestions {
  /** Programs to look for, such as `nmap`. */
  readonly tools: readonly string[]
  /** Folders to look in, separated by colons: the PATH that commands get. */
  readonly path: string
  /** Words given by the operator, taken over as they are. */
  readonly labels?: readonly string[]
  /** The engine that docker commands would use, if any. */
  readonly docker?: EngineAddress
}

/**
 * The words that say what commands on this machine can do, sorted: `tool:NAME` for each program found on the path,
 * `docker` when the engine answers, and the operator's labels.
 */
export async function detectCapabilities(questions: CapabilityQuestions): Promise<string[]> {
  const tools = await Promise.all(
    questions.tools.map(async (tool) => ((await isOnPath(tool, questions.path)) ? [`tool:${tool}`] : [])),
  )
  const docker = questions.docker !== undefined && (await engineAnswers(questions.docker)) ? ['docker'] : []
  return [...new Set([...tools.flat(), ...docker, ...(questions.labels ?? [])])].sort()
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
