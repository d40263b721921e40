import { DATABASE_FUNCTIONS } from './database.ts'
import type { FunctionDefinition, FunctionGroup } from './define.ts'
import { EVENT_FUNCTIONS } from './events.ts'
import { FILE_FUNCTIONS } from './file.ts'
import { JSON_FUNCTIONS } from './json.ts'
import { JSONL_FUNCTIONS } from './jsonl.ts'
import { LLM_FUNCTIONS } from './llm.ts'
import { LOG_FUNCTIONS } from './log.ts'
import { MARKDOWN_FUNCTIONS } from './markdown.ts'
import { NETWORK_FUNCTIONS } from './network.ts'
import { NOTIFY_FUNCTIONS } from './notify.ts'
import { REMOTE_FUNCTIONS } from './remote.ts'
import { STORAGE_FUNCTIONS } from './storage.ts'
import { TEXT_FUNCTIONS } from './text.ts'
import { TYPE_FUNCTIONS } from './types.ts'
import { UNIX_FUNCTIONS } from './unix.ts'
import { URL_FUNCTIONS } from './url.ts'
import { UTILITY_FUNCTIONS } from './utility.ts'

export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  FILE_FUNCTIONS,
  TEXT_FUNCTIONS,
  TYPE_FUNCTIONS,
  UTILITY_FUNCTIONS,
  LOG_FUNCTIONS,
  JSON_FUNCTIONS,
  JSONL_FUNCTIONS,
  UNIX_FUNCTIONS,
  URL_FUNCTIONS,
  NETWORK_FUNCTIONS,
  MARKDOWN_FUNCTIONS,
  EVENT_FUNCTIONS,
  DATABASE_FUNCTIONS,
  NOTIFY_FUNCTIONS,
  STORAGE_FUNCTIONS,
  LLM_FUNCTIONS,
  REMOTE_FUNCTIONS,
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
