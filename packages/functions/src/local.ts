import { DATABASE_FUNCTIONS } from './findings/database.ts'
import { FILE_FUNCTIONS } from './files/file.ts'
import { TYPE_FUNCTIONS } from './files/types.ts'
import { LOG_FUNCTIONS } from './log.ts'
import { FUNCTIONS } from './registry.ts'
import { JSON_FUNCTIONS } from './text/json.ts'
import { JSONL_FUNCTIONS } from './text/jsonl.ts'
import { URL_FUNCTIONS } from './text/url.ts'
import { COMPUTING, READING } from './without-run.ts'

const GROUPS = [
  DATABASE_FUNCTIONS,
  FILE_FUNCTIONS,
  JSON_FUNCTIONS,
  JSONL_FUNCTIONS,
  LOG_FUNCTIONS,
  TYPE_FUNCTIONS,
  URL_FUNCTIONS,
]
const LOCAL: ReadonlySet<string> = new Set([
  ...GROUPS.flatMap(({ functions }) =>
    functions.map(({ name }) => name).filter((name) => name !== 'run_nmap'),
  ),
  ...COMPUTING,
  ...READING,
  'cat_file',
  'get_var',
  'set_var',
  'sleep',
  'skip',
  'exit',
])

/** Words of JavaScript that reach functions without their names. */
const REACHING = /\b(?:globalThis|this|eval|Function|constructor)\b/
const WORD = /[A-Za-z_$][\w$]*/g

/** Whether expressions name only functions that compute, or work with files and records; also in texts, to be sure. */
export const sendsNothing = (code: string): boolean =>
  !REACHING.test(code) &&
  Array.from(code.matchAll(WORD), ([word]) => FUNCTIONS.get(word)).every(
    (known) => known === undefined || LOCAL.has(known.name),
  )
