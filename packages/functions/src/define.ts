import type { OutputStream, RunnerSpec, RunRecorder, Owner } from '@scanfarm/contracts'
import type { Folders, Ports } from './environment.ts'
import { codeOf, messageOf, type KnownFunction, type Json } from '@scanfarm/language'
import { runPath, type AllowedPath } from './paths/allowed.ts'
import type { FunctionServices } from './services.ts'

/** The interface of a function to the run that calls it. */
export interface FunctionContext {
  readonly signal: AbortSignal
  readonly folders: Folders
  readonly env: Readonly<Record<string, string>>
  readonly ports: Ports
  readonly services: FunctionServices
  readonly workspace: string
  readonly target: string
  readonly runUuid: string
  /** The calling step, with its module if it has one: `scan/ports`. */
  readonly stepPath: string
  readonly recorder: RunRecorder
  /** The owner of new files; undefined: the user of this process. */
  readonly owner: Owner | undefined
  /** Paths outside the run's folders that the settings allow. */
  readonly paths: readonly AllowedPath[] | undefined
  /** As in `FileScope`. */
  readonly shared?: readonly string[] | undefined
  /** A variable as the step sees it. */
  variable(name: string): Json | undefined
  setVariable(name: string, value: Json): void
  /** Sets an environment variable for all following commands. */
  setEnv(name: string, value: string): void
  /** Writes to the step's output. */
  print(stream: OutputStream, text: string): void
  /** Runs a program on the worker's machine, independent of the module's runner. */
  exec(argv: readonly string[], options?: { timeoutMs?: number; cwd?: string }): Promise<ExecResult>
  /** Runs a shell command with a runner that is opened for this command only. */
  execOn(spec: RunnerSpec, command: string): Promise<ExecResult>
  /** The results of a jq filter as JSON lines; rejects with the message of jq. */
  jq(text: string, filter: string): Promise<string>
  /** Evaluates further expressions, for reports that contain functions. */
  evaluate(expression: string): Promise<Json>
}

/** One call of a function. Its arguments come from expressions and may have any type; the methods convert them. */
export interface Call extends FunctionContext {
  readonly args: readonly Json[]
  /** A list is its items with commas between them, an object is JSON. */
  text(index: number, fallback?: string): string
  number(index: number, fallback: number): number
  /** The items of a list, or of a text between its commas. */
  list(index: number): string[]
  /** A path of the author, relative to the run's folder. Without a fallback, throws `NoPath` if it is empty. */
  path(index: number, fallback?: string): string
}

export interface ExecResult {
  /** -1 if the program did not exit by itself. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** Why it did not start or end, or `""`. */
  readonly problem: string
}

export interface FunctionDefinition extends KnownFunction {
  /** As documented: `path, pattern?` */
  readonly signature: string
  readonly returns: string
  readonly doc: string
  /** Other names of the function. */
  readonly aliases: readonly string[]
  /** Whether a host may get something from it. */
  readonly sends: boolean
  /** The result if the function cannot do its work; default: the empty value of `returns`. */
  readonly otherwise?: Json
  /** Nothing as result: it has done its work, which is true. */
  readonly run: (call: Call) => Json | void | Promise<Json | void>
}

export interface FunctionGroup {
  readonly title: string
  readonly functions: readonly FunctionDefinition[]
}

export type Run = FunctionDefinition['run']

const defining =
  (sends: boolean) =>
  (head: string, doc: string, run: Run, aliases: readonly string[] = []): FunctionDefinition => {
    const [, name = '', signature = '', returns = ''] = /^(\w+)\((.*)\): ([\w ]+)$/.exec(head) ?? []
    return { name, signature, returns, doc, run, aliases: [...aliases, ...camelCase(name)], sends }
  }

/** A function that computes, or works with files and records: `local('file_exists(path): bool', 'Is there…', run)`. */
export const local = defining(false)

/** A function that asks a host, or executes code that may do so. */
export const sending = defining(true)

/**
 * A function of the language that Scanfarm does not support; the checker reports it. Its step fails, or continues with the
 * result that means failure, if workflows test for it.
 */
export const refused = (head: string, why: string, instead = '', returns = 'never'): FunctionDefinition => {
  const message = instead === '' ? why : `${why}; ${instead}`
  const definition = local(`${head}: ${returns}`, `Not supported: ${message}.`, () => {
    throw returns === 'never' ? new Error(message) : new NoResult(message)
  })
  return { ...definition, refused: { why, instead } }
}

/** Sets the result of a function that cannot do its work. */
export const answering = (otherwise: Json, definition: FunctionDefinition): FunctionDefinition => ({
  ...definition,
  otherwise,
})

/** Older workflow files use `fileExists` for `file_exists`. */
const camelCase = (name: string): string[] => {
  if (!name.includes('_')) return []
  const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return camel === name ? [] : [camel]
}

/**
 * The function could not do its work: a file is missing, a program failed, a pattern is invalid. The step continues with a
 * result that means failure (false, "", 0, an empty list), because workflows test for it; the reason is logged.
 */
export class NoResult extends Error {
  override readonly name: string = 'NoResult'
}

/** An empty path, usually from an empty variable. The function returns the same as for a missing file. */
export class NoPath extends NoResult {
  override readonly name = 'NoPath'
}

/** File errors that are treated as a missing file, unlike a full disk or a refused path. */
const NO_SUCH_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ENAMETOOLONG'])

const OTHERWISE: Readonly<Record<string, Json>> = {
  bool: false,
  true: false,
  number: 0,
  text: '',
  list: [],
  value: '',
}

/**
 * Rejects with an error that fails the step. `context` is for this call alone. `onFailure` gets the reason of a result that
 * means failure.
 */
export const resultOf = async (
  { run, returns, otherwise = OTHERWISE[returns] }: FunctionDefinition,
  args: readonly Json[],
  context: FunctionContext,
  { signal, onFailure }: { signal?: AbortSignal | undefined; onFailure?: (error: unknown) => void },
): Promise<Json> => {
  try {
    const result = (await run(callOf(args, context))) as Json | undefined
    return result === undefined ? true : result
  } catch (error) {
    const isResult = error instanceof NoResult || NO_SUCH_FILE.has(codeOf(error))
    if (signal?.aborted === true || !isResult) throw error
    onFailure?.(error)
    return otherwise ?? `error: ${messageOf(error)}`
  }
}

/** Converts a value to text: a list to its items with commas between them, an object to JSON. */
const scriptText = (value: Json): string => {
  if (Array.isArray(value)) return value.map((item) => (item === null ? '' : scriptText(item))).join(',')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** Converts the failure of a service to `NoResult`; a cancellation is rethrown. */
export const orNoResult = async <Result>(
  { signal }: Pick<FunctionContext, 'signal'>,
  work: Promise<Result>,
): Promise<Result> =>
  await work.catch((error: unknown) => {
    if (signal.aborted || codeOf(error) === 'ERR_REFUSED_PATH') throw error
    throw new NoResult(messageOf(error), { cause: error })
  })

/** The context becomes the call: one that inherits from it would make all accesses slow. */
const callOf = (args: readonly Json[], context: FunctionContext): Call =>
  Object.assign(context, {
    args,
    text: (index: number, fallback = '') => textOf(args[index], fallback),
    number: (index: number, fallback: number) => numberOf(args[index]) ?? fallback,
    list: (index: number) => listOf(args[index]),
    path(index: number, fallback?: string) {
      const text = textOf(args[index]).trim() || fallback
      if (text === undefined) throw new NoPath(`argument ${index + 1} must be a path`)
      return runPath(text, context)
    },
  })

export const textOf = (value: Json | undefined, fallback = ''): string =>
  value === undefined || value === null ? fallback : scriptText(value)

const numberOf = (value: Json | undefined): number | undefined => {
  if (value === undefined || value === null || value === '') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

const listOf = (value: Json | undefined): string[] => {
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  const text = textOf(value)
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

export const messageArg = (call: Call, index: number): string => {
  const message = call.text(index)
  if (message === '') throw new NoResult('there is no message')
  return message
}

export const isObject = (value: unknown): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Wraps a function that needs an optional service. Without it, the function reports that to the output and the log and
 * returns `otherwise`, so that workflows also run in installations without the service.
 */
export const needing =
  (service: keyof FunctionServices, missing: string, otherwise: Json) =>
  (definition: FunctionDefinition): FunctionDefinition => ({
    ...definition,
    run: async (call) => {
      if (call.services[service] !== undefined) return await definition.run(call)
      const message = `${definition.name}: ${missing}`
      call.print('stderr', `${message}\n`)
      call.recorder.log('warn', message)
      return otherwise
    },
  })
