import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { workspaceProblem, type Owner } from '@scanfarm/contracts'
import type { Engine } from '../engine.ts'
import { type AllowedPath, type FileScope, FUNCTIONS, callWithoutRun } from '@scanfarm/functions'
import { callProblem, type Json } from '@scanfarm/language'

/** Files that functions in triggers may read. */
export interface TriggerFiles {
  /** The folder that contains a folder for each workspace. */
  readonly workspaces: string
  readonly paths: readonly AllowedPath[]
}

/** Time limit of a function that reads files. */
const READ_MS = 5_000
/** A server that runs as root reads files outside of workspaces as this user. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

const isName = (name = ''): boolean => name !== '' && workspaceProblem(name) === undefined

const workspaceIn = (base: string, path: string): string | undefined => {
  const [name] = relative(base, resolve(path)).split(sep)
  return isName(name) ? name : undefined
}

/**
 * The workspace of a path, else that of the event. Files are read with the rights of the user of its commands, so that
 * a trigger cannot read more than they can.
 */
const fileScopeOf = async (
  { workspaces, paths }: TriggerFiles,
  args: readonly Json[],
  workspace: string,
): Promise<Pick<FileScope, 'folders' | 'owner' | 'paths'>> => {
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

/** Calls a function for a trigger. */
export const callForTrigger = async (
  name: string,
  args: readonly Json[],
  { engine, files, workspace }: CallContext,
  until: AbortSignal,
): Promise<Json> => {
  const definition = FUNCTIONS.get(name)
  if (definition?.inTriggers === undefined)
    throw new Error(callProblem(name, FUNCTIONS) ?? `there is no function ${name}`)
  const reads = definition.inTriggers === 'reads'
  if (reads && files === undefined)
    throw new Error(`${name}: functions that read files are not enabled for triggers of this server`)
  const signal = reads ? AbortSignal.any([until, AbortSignal.timeout(READ_MS)]) : until
  const scope = reads && files !== undefined ? await fileScopeOf(files(), args, workspace) : {}
  return await callWithoutRun(definition, args, {
    ...scope,
    shared: undefined,
    signal,
    jq: async (text, filter) => await engine.jq.run(text, filter, signal),
  })
}
