import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { workspaceProblem } from '@scanfarm/contracts'
import type { Engine } from '../execute/engine.ts'
import type { Owner } from '../execute/surroundings.ts'
import type { AllowedPath, RunPlace } from '../functions/allowed.ts'
import type { FunctionDefinition } from '../functions/define.ts'
import { FUNCTIONS } from '../functions/registry.ts'
import { callWithoutRun, COMPUTING, READING } from '../functions/without-run.ts'
import type { Json } from '../model.ts'

/** They read files that the trigger may see, and change nothing. */
const READING_HERE = [...READING, 'jq_from_file']

const allowed = (list: readonly string[]): ReadonlyMap<string, FunctionDefinition> => {
  const definitions = new Set(list.flatMap((name) => FUNCTIONS.get(name) ?? []))
  return new Map([...FUNCTIONS].filter(([, definition]) => definitions.has(definition)))
}

/** Every function that expressions of triggers may call, under each of its names. */
export const TRIGGER_FUNCTIONS = allowed([...COMPUTING, 'jq', ...READING_HERE])
const READING_FUNCTIONS = allowed(READING_HERE)

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
  return await callWithoutRun(definition, args, {
    ...place,
    shared: undefined,
    signal,
    jq: async (text, filter) => await engine.jq.run(text, filter, signal),
  })
}
