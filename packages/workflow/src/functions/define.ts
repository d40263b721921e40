import type { OutputStream, RunnerSpec, RunRecorder } from '@scanfarm/contracts'
import type { Folders, Owner, Ports } from '../execute/surroundings.ts'
import { codeOf, messageOf } from '../fault.ts'
import type { Json } from '../model.ts'
import type { AllowedPath } from './allowed.ts'
import type { FunctionServices } from './services.ts'

/** What a function may see of the run that calls it. */
export interface FunctionContext {
  readonly signal: AbortSignal
  readonly folders: Folders
  readonly env: Readonly<Record<string, string>>
  readonly ports: Ports
  readonly services: FunctionServices
  readonly workspace: string
  readonly target: string
  readonly runUuid: string
  /** The step that calls, after its module where it has one: `scan/ports`. */
  readonly stepPath: string
  readonly recorder: RunRecorder
  /** Whom files that functions make are given to; missing: they stay with this process. */
  readonly owner: Owner | undefined
  /** Paths outside of the run's folders that the settings allow. */
  readonly paths: readonly AllowedPath[] | undefined
  /** As in `RunPlace`. */
  readonly shared?: readonly string[] | undefined
  /** A variable as the step sees it. */
  variable(name: string): Json | undefined
  setVariable(name: string, value: Json): void
  /** Sets a variable of the environment of all commands that follow. */
  setEnv(name: string, value: string): void
  /** Writes to the step's output. */
  print(stream: OutputStream, text: string): void
  /** Runs a program on the executor's machine, whatever runner the module has. */
  exec(argv: readonly string[], options?: { timeoutMs?: number; cwd?: string }): Promise<ExecResult>
  /** Runs a shell command in another place, which is there for it alone. */
  execOn(spec: RunnerSpec, command: string): Promise<ExecResult>
  /** The results of a jq filter as JSON, one a line; rejects with the words of jq. */
  jq(text: string, filter: string): Promise<string>
  /** Runs further expressions, as reports with functions inside need it. */
  evaluate(expression: string): Promise<Json>
}

export interface ExecResult {
  /** -1 when the program did not end by itself. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** Why it did not run or end, or `""`. */
  readonly problem: string
}

export interface FunctionDefinition {
  readonly name: string
  /** As documented: `path, pattern?` */
  readonly signature: string
  readonly returns: string
  readonly doc: string
  /** Older spellings that mean the same. */
  readonly aliases: readonly string[]
  /** What it answers when it cannot do its work; missing: what `returns` suggests. */
  readonly otherwise?: Json
  /** Why it always fails here, and what does the same or `""`; missing for functions that work. */
  readonly refused?: { readonly why: string; readonly instead: string }
  readonly run: (args: readonly Json[], context: FunctionContext) => Json | Promise<Json>
}

export interface FunctionGroup {
  readonly title: string
  readonly functions: readonly FunctionDefinition[]
}

type Run = FunctionDefinition['run']

/** One function: `fn('file_exists(path)', 'bool', 'Is there…', run)`. */
export const fn = (
  head: string,
  returns: string,
  doc: string,
  run: Run,
  aliases: readonly string[] = [],
): FunctionDefinition => {
  const [, name = '', signature = ''] = /^(\w+)\((.*)\)$/.exec(head) ?? []
  return { name, signature, returns, doc, run, aliases: [...aliases, ...camelCase(name)] }
}

/**
 * A function of the language that is not carried out here: the checker says so. Its step fails, or goes on with the
 * answer that means failure where workflows ask for it.
 */
export const refused = (head: string, why: string, instead = '', returns = 'never'): FunctionDefinition => {
  const message = instead === '' ? why : `${why}; ${instead}`
  const definition = fn(head, returns, `Not carried out: ${message}.`, () => {
    throw returns === 'never' ? new Error(message) : new NoResult(message)
  })
  return { ...definition, refused: { why, instead } }
}

/** Answers with this value when the function cannot do its work. */
export const answering = (otherwise: Json, definition: FunctionDefinition): FunctionDefinition => ({
  ...definition,
  otherwise,
})

/** Older files write `fileExists` for `file_exists`. */
const camelCase = (name: string): string[] => {
  const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return camel === name ? [] : [camel]
}

/**
 * The function could not do its work: a file is missing, a program failed, a pattern is wrong. The step goes on with an
 * answer that says so (false, "", 0, an empty list), because conditions of workflows ask for it; the log has the reason.
 */
export class NoResult extends Error {
  override readonly name: string = 'NoResult'
}

/** A path that is nothing: where a variable is empty. The function answers as for a file that is not there. */
export class NoPath extends NoResult {
  override readonly name = 'NoPath'
}

/** Troubles with files that mean the same as a missing one. A full disk or a refused path is none of them. */
const NO_SUCH_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ENAMETOOLONG'])

const OTHERWISE: Readonly<Record<string, Json>> = {
  bool: false,
  true: false,
  number: 0,
  text: '',
  list: [],
  value: '',
}

/** What a function answers after an error, or nothing when the error fails the step. */
export const answerAfter = (
  error: unknown,
  { returns, otherwise = OTHERWISE[returns] }: FunctionDefinition,
): Json | undefined => {
  if (!(error instanceof NoResult) && !NO_SUCH_FILE.has(codeOf(error))) return undefined
  return otherwise ?? `error: ${messageOf(error)}`
}

/** A value as a script shows it: a list is its items with commas between them, an object its JSON. */
const scriptText = (value: Json): string => {
  if (Array.isArray(value)) return value.map((item) => (item === null ? '' : scriptText(item))).join(',')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** Work of a service: its failure is no result, a cancel stays one. */
export const orNoResult = async <Result>(
  { signal }: Pick<FunctionContext, 'signal'>,
  work: Promise<Result>,
): Promise<Result> =>
  await work.catch((error: unknown) => {
    if (signal.aborted || codeOf(error) === 'ERR_REFUSED_PATH') throw error
    throw new NoResult(messageOf(error), { cause: error })
  })

/** Arguments come from programs, so anything may arrive; these take what is meant. */
export const textArg = (args: readonly Json[], index: number, fallback = ''): string => {
  const value = args[index]
  return value === undefined || value === null ? fallback : scriptText(value)
}

export const numberArg = (args: readonly Json[], index: number, fallback: number): number => {
  const value = args[index]
  const number =
    typeof value === 'number'
      ? value
      : value === undefined || value === null || value === ''
        ? Number.NaN
        : Number(value)
  return Number.isFinite(number) ? number : fallback
}

export const listArg = (args: readonly Json[], index: number): string[] => {
  const value = args[index]
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  const text = textArg(args, index)
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

export const isObject = (value: unknown): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Functions of a service that may not be there: then they say so in the output and the log and answer `otherwise`, so
 * that a workflow made for a whole installation also runs without it.
 */
export const needing =
  (has: (services: FunctionServices) => boolean, missing: string, otherwise: (message: string) => Json) =>
  (definition: FunctionDefinition): FunctionDefinition => ({
    ...definition,
    run: async (args, context) => {
      if (has(context.services)) return await definition.run(args, context)
      const message = `${definition.name}: ${missing}`
      context.print('stderr', `${message}\n`)
      context.recorder.log('warn', message)
      return otherwise(missing)
    },
  })
