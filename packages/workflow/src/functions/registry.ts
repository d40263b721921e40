import type { FunctionDefinition, FunctionGroup } from './define.ts'
import { FILE_FUNCTIONS } from './file.ts'
import { LOG_FUNCTIONS } from './log.ts'
import { TEXT_FUNCTIONS } from './text.ts'
import { UTILITY_FUNCTIONS } from './utility.ts'

export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  FILE_FUNCTIONS,
  TEXT_FUNCTIONS,
  UTILITY_FUNCTIONS,
  LOG_FUNCTIONS,
]

/** Every function under each of its names; a real name wins over somebody's alias. */
const byName = (): ReadonlyMap<string, FunctionDefinition> => {
  const all = FUNCTION_GROUPS.flatMap(({ functions }) => functions)
  const names = new Map<string, FunctionDefinition>()
  for (const definition of all) for (const alias of definition.aliases) names.set(alias, definition)
  for (const definition of all) names.set(definition.name, definition)
  return names
}

export const FUNCTIONS: ReadonlyMap<string, FunctionDefinition> = byName()
