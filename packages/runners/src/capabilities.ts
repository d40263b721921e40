import type { EngineAddress } from './docker/engine-address.ts'
import { engineAnswers } from './docker/engine.ts'

export interface CapabilityQuestions {
  /** Programs that commands can use, such as `nmap`. */
  readonly tools: readonly string[]
  /** Words given by the operator, taken over as they are. */
  readonly labels?: readonly string[]
  /** The engine that docker commands would use, if any. */
  readonly docker?: EngineAddress
}

/**
 * The words that say what commands on this machine can do, sorted: `tool:NAME` for each program, `docker` when the engine
 * answers, and the operator's labels.
 */
export async function detectCapabilities(questions: CapabilityQuestions): Promise<string[]> {
  const tools = questions.tools.map((tool) => `tool:${tool}`)
  const docker = questions.docker !== undefined && (await engineAnswers(questions.docker)) ? ['docker'] : []
  return [...new Set([...tools, ...docker, ...(questions.labels ?? [])])].sort()
}
