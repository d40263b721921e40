import { valueOr } from '@scanfarm/contracts'
import {
  FUNCTIONS,
  FUNCTION_GROUPS,
  ForbiddenPath,
  type AllowedPath,
  type FunctionDefinition,
  callWithoutRun,
  COMPUTING,
  READING,
} from '@scanfarm/functions'
import {
  messageOf,
  parseTemplate,
  prepareProgram,
  type Json,
  evaluateExpr,
  type Variables,
  renderText,
  fromJson,
  toJson,
  toPlain,
  type Value,
} from '@scanfarm/language'
import { Engine } from './engine.ts'

/** Functions that print, or keep variables for this evaluation only. */
const PRINTING = `set_var get_var cat_file log_debug log_info log_warn log_error print_green print_blue print_yellow
  print_red printf`

const ALLOWED: ReadonlySet<string> = new Set([...COMPUTING, ...READING, ...PRINTING.split(/\s+/)])

/** A function as lists show it. */
export type ListedFunction = Pick<
  FunctionDefinition,
  'name' | 'signature' | 'returns' | 'doc' | 'aliases'
> & {
  /** Title of its group. */
  readonly group: string
  /** The console may call it; other functions need a run. */
  readonly pure: boolean
}

export const listFunctions = (): ListedFunction[] =>
  FUNCTION_GROUPS.flatMap(({ title: group, functions }) =>
    functions.map(({ name, signature, returns, doc, aliases }) => {
      const pure = ALLOWED.has(name)
      return { name, signature, returns, doc, aliases, group, pure }
    }),
  )

export interface ConsoleRequest {
  readonly script: string
  readonly variables: Readonly<Record<string, Json>>
  readonly signal: AbortSignal
}

export type ConsoleOutcome =
  | { readonly kind: 'value'; readonly value: Json; readonly rendered: string; readonly output: string }
  | { readonly kind: 'error'; readonly message: string }

const MAX_MS = 5_000
const MAX_MEMORY = 32 << 20
const MAX_CHARS = 1 << 18
const MAX_THREADS = 2

/** Limits of one evaluation: total time, memory of the program, characters of each value and of the output. */
export const CONSOLE_LIMITS = { timeMs: MAX_MS, memoryBytes: MAX_MEMORY, chars: MAX_CHARS } as const

/**
 * Evaluates an expression without a run, so that users can try functions. Expressions that call functions which start
 * programs, write files or reach other machines, the database or the environment are refused before evaluation.
 */
export class FunctionConsole implements AsyncDisposable {
  readonly #engine = new Engine({
    limits: { timeMs: MAX_MS, memoryBytes: MAX_MEMORY, resultChars: MAX_CHARS },
    maxThreads: MAX_THREADS,
  })
  readonly #paths: readonly AllowedPath[]

  /** `folders`: the folders that functions may read. */
  constructor(folders: readonly string[]) {
    this.#paths = folders.map((path) => ({ path, write: false }))
  }

  async evaluate({ script, variables, signal }: ConsoleRequest): Promise<ConsoleOutcome> {
    const timeout = AbortSignal.timeout(MAX_MS)
    try {
      const program = prepareProgram(script)
      const called = [...program.names].filter((name) => FUNCTIONS.has(name))
      const refused = called.filter((name) => program.calls.has(name) && !isAllowed(name))
      if (refused.length > 0) return { kind: 'error', message: refusal(refused) }
      const values = new Map<string, Value>(
        Object.entries(variables).map(([name, value]) => [name, fromJson(value)]),
      )
      const scope: Variables = { get: (name) => values.get(name) }
      const functions = called.filter(
        (name) => isAllowed(name) && (program.calls.has(name) || !Object.hasOwn(variables, name)),
      )
      const given = Object.entries(variables).filter(
        ([name]) => program.names.has(name) && !functions.includes(name),
      )
      const holes = program.holes.map(({ expr }) => evaluateExpr(expr, scope))
      const output = new Output()
      const outcome = await this.#engine.expressions.evaluate({
        code: program.script,
        globals: {
          ...Object.fromEntries(given),
          ...(holes.length === 0
            ? {}
            : { $hole: holes.map(toJson), $text: holes.map(toPlain), $shell: holes.map(toPlain) }),
        },
        functions,
        host: (name, args, until) => this.#call(name, args, { values, output, signal: until }),
        signal: AbortSignal.any([signal, timeout]),
      })
      if (outcome.kind === 'value')
        return {
          kind: 'value',
          value: outcome.value,
          rendered: this.#rendered(script, scope),
          output: output.text,
        }
      return {
        kind: 'error',
        message: outcome.kind === 'error' ? outcome.message : `the script took longer than ${MAX_MS / 1000}s`,
      }
    } catch (error) {
      return { kind: 'error', message: messageOf(error) }
    }
  }

  /** Only for display: the program itself receives values, not text. */
  #rendered(script: string, scope: Variables): string {
    return valueOr(() => renderText(parseTemplate(script), scope).slice(0, MAX_CHARS), script)
  }

  async #call(
    name: string,
    args: Json[],
    { values, output, signal }: { values: Map<string, Value>; output: Output; signal: AbortSignal },
  ): Promise<Json> {
    if (name === 'console') {
      output.add(`${args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' ')}\n`)
      return true
    }
    const definition = FUNCTIONS.get(name)
    if (definition === undefined || !isAllowed(name)) throw new Error(refusal([name]))
    try {
      return await callWithoutRun(definition, args, {
        signal,
        folders: { output: '', temp: '' },
        env: {},
        services: {},
        owner: undefined,
        paths: this.#paths,
        shared: [],
        variable: (variable) => {
          const value = values.get(variable)
          return value === undefined ? undefined : toJson(value)
        },
        setVariable: (variable, value) => void values.set(variable, fromJson(value)),
        print: (_stream, text) => output.add(text),
      })
    } catch (error) {
      if (!(error instanceof ForbiddenPath)) throw error
      throw new Error(
        `${definition.name}: the server reads files only in the folders of the setting target_file.folders; use it in a step of a workflow`,
        { cause: error },
      )
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]()
  }
}

const isAllowed = (name: string): boolean => ALLOWED.has(FUNCTIONS.get(name)?.name ?? '')

const refusal = (names: readonly string[]): string =>
  `${names.join(', ')}: not available without a run, because it would act on the server itself; use it in a step of a workflow`

/** The printed output, bounded. */
class Output {
  text = ''

  add(text: string): void {
    this.text = (this.text + text).slice(0, MAX_CHARS)
  }
}
