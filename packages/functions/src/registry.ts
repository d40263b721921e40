import { DATABASE_FUNCTIONS } from './findings/database.ts'
import type { FunctionDefinition, FunctionGroup } from './define.ts'
import { EVENT_FUNCTIONS } from './events.ts'
import { FILE_FUNCTIONS } from './files/file.ts'
import { JSON_FUNCTIONS } from './text/json.ts'
import { JSONL_FUNCTIONS } from './text/jsonl.ts'
import { LLM_FUNCTIONS } from './llm/functions.ts'
import { LOG_FUNCTIONS } from './log.ts'
import { MARKDOWN_FUNCTIONS } from './text/markdown.ts'
import { NETWORK_FUNCTIONS } from './network/network.ts'
import { NOTIFY_FUNCTIONS } from './notify/functions.ts'
import { REMOTE_FUNCTIONS } from './remote.ts'
import { STORAGE_FUNCTIONS } from './storage.ts'
import { TEXT_FUNCTIONS } from './text/text.ts'
import { TYPE_FUNCTIONS } from './files/types.ts'
import { UNIX_FUNCTIONS } from './files/unix.ts'
import { URL_FUNCTIONS } from './text/url.ts'
import { UTILITY_FUNCTIONS } from './utility.ts'
import { COMPUTING, READING } from './without-run.ts'

const IN_TRIGGERS: ReadonlyMap<string, FunctionDefinition['inTriggers']> = new Map([
  ...[...COMPUTING, 'jq'].map((name) => [name, 'computes'] as const),
  ...[...READING, 'jq_from_file'].map((name) => [name, 'reads'] as const),
])

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

/** All functions by name and alias; a name wins over an alias. */
const byName = (): ReadonlyMap<string, FunctionDefinition> => {
  const all = FUNCTION_GROUPS.flatMap(({ functions }) =>
    functions.map((definition) => ({ ...definition, inTriggers: IN_TRIGGERS.get(definition.name) })),
  )
  const names = new Map<string, FunctionDefinition>()
  for (const definition of all) for (const alias of definition.aliases) names.set(alias, definition)
  for (const definition of all) names.set(definition.name, definition)
  return names
}

export const FUNCTIONS: ReadonlyMap<string, FunctionDefinition> = byName()
