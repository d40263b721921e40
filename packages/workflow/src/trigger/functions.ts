import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { workspaceProblem } from '@scanfarm/contracts'
import type { Engine } from '../execute/engine.ts'
import type { Owner } from '../execute/surroundings.ts'
import type { AllowedPath, RunPlace } from '../functions/allowed.ts'
import { NoPath, type FunctionContext, type FunctionDefinition } from '../functions/define.ts'
import { FUNCTIONS } from '../functions/registry.ts'
import { TEXT_FUNCTIONS } from '../functions/text.ts'
import type { Json } from '../model.ts'

const names = (list: string): string[] => list.split(/\s+/)

/** They compute and reach nothing. */
const PURE = [
  ...TEXT_FUNCTIONS.functions.map(({ name }) => name),
  ...names('len is_empty is_not_empty pick_valid uuid random_string base64_encode base64_decode jq'),
  ...names('is_url is_compress parse_url query_replace path_replace get_parent_url'),
]
/** They read files that the trigger may see, and change nothing. */
const READING = names(
  'file_exists file_length dir_length file_contains regex_extract read_file read_lines glob grep_string grep_regex ' +
    'jq_from_file get_types is_file is_dir is_git detect_language',
)

const allowed = (list: readonly string[]): ReadonlyMap<string, FunctionDefinition> => {
  const definitions = new Set(list.flatMap((name) => FUNCTIONS.get(name) ?? []))
  return new Map([...FUNCTIONS].filter(([, definition]) => definitions.has(definition)))
}

/** Every function that expressions of triggers may call, under each of its names. */
export const TRIGGER_FUNCTIONS = allowed([...PURE, ...READING])
const READING_FUNCTIONS = allowed(READING)

/** Why a trigger cannot call a function of the language, or undefined. */
export const callProblem = (name: string): string | undefined =>
  FUNCTIONS.has(name) && !TRIGGER_FUNCTIONS.has(name)
    ? `"${name}" cannot be called by a trigger, which is evaluated on the server and not in a run: functions of texts, URLs and JSON and those that read files can; call this one in a step`
    : undefined

/** Files of this server that triggers may read. */
export interface TriggerFiles {
  /** The folder with a folder for each workspace. */
  readonly workspaces: string
  readonly paths: readonly AllowedPath[]
}

/** A function may read this long. */
const READ_MS = 5_000
/** Reads for triggers outside of workspaces where the server is root: what every user may read. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

const isName = (name = ''): boolean => name !== '' && workspaceProblem(name) === undefined

const workspaceIn = (base: string, path: string): string | undefined => {
  const [name] = relative(base, resolve(path)).split(sep)
  return isName(name) ? name : undefined
}

/**
 * The workspace that a path lies in, else that of the event, read with the rights of the user of its commands: a
 * trigger sees no file that these could not read.
 */
const placeOf = async (
  { workspaces, paths }: TriggerFiles,
  args: readonly Json[],
  workspace: string,
): Promise<Pick<RunPlace, 'folders' | 'owner' | 'paths'>> => {
  const base = resolve(workspaces)
  const path = args.find((arg) => typeof arg === 'string' && isAbsolute(arg))
  const named = typeof path === 'string' ? workspaceIn(base, path) : undefined
  const name = named ?? (isName(workspace) ? workspace : undefined)
  const output = name === undefined ? '' : join(base, name)
  const facts = output === '' ? undefined : await lstat(output).catch(() => undefined)
  const isRoot = process.getuid?.() === 0
  const own = facts !== undefined && facts.uid !== 0 ? { uid: facts.uid, gid: facts.gid } : NOBODY
  return {
    folders: { output, temp: '' },
    owner: isRoot ? own : undefined,
    paths: paths.map((one) => ({ ...one, write: false })),
  }
}

const WITHOUT_PATH: Readonly<Record<string, Json>> = { bool: false, number: 0, list: [] }

/** Asked for by functions that triggers do not have; the list above decides, this is only its fence. */
const fenced = (known: object): FunctionContext =>
  new Proxy({} as FunctionContext, {
    get(_, key): unknown {
      if (key in known) return Reflect.get(known, key)
      throw new Error('this function needs a run, so a trigger cannot use it')
    },
  })

export interface CallContext {
  readonly engine: Engine
  readonly files: (() => TriggerFiles) | undefined
  readonly workspace: string
}

/** Calls a function for a trigger. Rejects with what went wrong. */
export const callForTrigger = async (
  name: string,
  args: readonly Json[],
  { engine, files, workspace }: CallContext,
  until: AbortSignal,
): Promise<Json> => {
  const definition = TRIGGER_FUNCTIONS.get(name)
  if (definition === undefined) throw new Error(callProblem(name) ?? `there is no function ${name}`)
  const reads = READING_FUNCTIONS.has(name)
  if (reads && files === undefined) throw new Error(`${name}: this server opens no files for triggers`)
  const signal = reads ? AbortSignal.any([until, AbortSignal.timeout(READ_MS)]) : until
  const place = reads && files !== undefined ? await placeOf(files(), args, workspace) : {}
  const context = fenced({
    ...place,
    shared: undefined,
    signal,
    ports: {
      now: () => new Date(),
      monotonic: () => performance.now(),
      uuid: () => crypto.randomUUID(),
      random: Math.random,
    },
    recorder: { log: () => undefined },
    jq: async (text: string, filter: string) => await engine.jq.run(text, filter, signal),
  })
  try {
    return await definition.run(args, context)
  } catch (error) {
    if (error instanceof NoPath) return WITHOUT_PATH[definition.returns] ?? ''
    throw error
  }
}
