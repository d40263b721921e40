import { addAbortListener } from 'node:events'
import { resultOf, FUNCTIONS, type FunctionContext, EndRun, SkipModule } from '@scanfarm/functions'
import type { SimpleScope, Program, Json, Value, Variables } from '@scanfarm/language'
import {
  evaluateSimple,
  prepareProgram,
  messageOf,
  evaluateExpr,
  asNumber,
  toJson,
  toPlain,
} from '@scanfarm/language'
import { ShellValues } from './shell-values.ts'
import type { SharedFiles } from '../runner/shared-files.ts'
import { refuseJoined } from './code-arguments.ts'
import { functionContext } from './function-context.ts'
import { type StepContext, signalOf } from './step-context.ts'

/** Result of an expression. */
export type Evaluated =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'cancelled' }
  /** The expression called `skip` or `exit(0)`. */
  | { readonly kind: 'skip-module'; readonly message: string }

/** The value of a template inside an expression: converted as if its text were a literal, but never parsed as code. */
const inCode = (value: Value): Json => {
  const json = toJson(value)
  if (typeof json !== 'string') return json
  if (json === 'true' || json === 'false') return json === 'true'
  const number = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(json) ? asNumber(value) : undefined
  return number ?? json
}

const globalsFor = (
  program: Program,
  at: StepContext,
  functions: ReadonlySet<string>,
  shellValues: ShellValues,
): Record<string, Json> => {
  const globals: Record<string, Json> = {}
  for (const name of program.names) {
    if (functions.has(name)) continue
    const value = at.scope.get(name)
    if (value !== undefined) globals[name] = toJson(value)
  }
  if (program.holes.length > 0) {
    const values = program.holes.map(({ expr }) => evaluateExpr(expr, at.scope))
    globals['$hole'] = values.map(inCode)
    globals['$text'] = values.map(toPlain)
    globals['$shell'] = values.map((value) => shellValues.keep(value))
  }
  return globals
}

/** A name refers to a function if it is called or if no variable has it. */
const functionsOf = (program: Program, at: StepContext): Set<string> =>
  new Set(
    [...program.names].filter(
      (name) => FUNCTIONS.has(name) && (program.calls.has(name) || at.scope.get(name) === undefined),
    ),
  )

/** Evaluates an expression of the author with the variables of the step. Never throws. */
export const evaluate = async (
  at: StepContext,
  source: string,
  extra: Readonly<Record<string, Json>> = {},
): Promise<Evaluated> => {
  const { run } = at.module
  const signal = signalOf(at)
  let skipped: SkipModule | undefined
  let ended = ''
  const shellValues = new ShellValues()
  const host = async (name: string, args: Json[], until: AbortSignal): Promise<Json> => {
    try {
      await run.openDirectory()
      const context = functionContext(at, until, async (inner) => await valueOf(at, inner))
      // Arguments of an agent's tool come from the model; the author has allowed that.
      const program = prepareProgram(source)
      if (!Object.hasOwn(extra, '$args')) refuseJoined(program, name, args, at.scope)
      return await callFunction(name, shellValues.fill(name, args), context, run.files)
    } catch (error) {
      if (error instanceof SkipModule) skipped = error
      if (error instanceof EndRun && error.code === 0) skipped = new SkipModule('exit(0)')
      if (error instanceof EndRun) ended = messageOf(error)
      throw error
    }
  }
  try {
    const program = prepareProgram(source)
    const functions = functionsOf(program, at)
    if (program.simple !== undefined) {
      const value = await evaluateSimple(program.simple, simpleScope(at, functions, extra, host))
      return signal.aborted ? { kind: 'cancelled' } : { kind: 'value', value }
    }
    const globals = { ...globalsFor(program, at, functions, shellValues), ...extra }
    const request = { code: program.script, globals, functions: [...functions], signal, host }
    const outcome = await run.engine.expressions.evaluate(request)
    if (skipped !== undefined) return { kind: 'skip-module', message: messageOf(skipped) }
    return ended === '' ? outcome : { kind: 'error', message: ended }
  } catch (error) {
    if (skipped !== undefined) return { kind: 'skip-module', message: messageOf(skipped) }
    if (signal.aborted) return { kind: 'cancelled' }
    return { kind: 'error', message: messageOf(error) }
  }
}

/** Stops waiting for a function when the run is cancelled, even if the function ignores the signal. */
const untilAborted = async <Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> => {
  const { promise, reject } = Promise.withResolvers<never>()
  using _listener = addAbortListener(signal, () => reject(new Error('cancelled')))
  return await Promise.race([work, promise])
}

/** How a simple expression reads variables. Throws for a name that has no value. */
export const namesIn = (scope: Variables): Pick<SimpleScope, 'name' | 'hole'> => ({
  name(name) {
    const value = scope.get(name)
    if (value === undefined) throw unknownName(name)
    return toJson(value)
  },
  hole(expr, quoted) {
    const value = evaluateExpr(expr, scope)
    return quoted ? toPlain(value) : inCode(value)
  },
})

const unknownName = (name: string): Error => new Error(`ReferenceError: '${name}' is not defined`)

const simpleScope = (
  at: StepContext,
  functions: ReadonlySet<string>,
  extra: Readonly<Record<string, Json>>,
  host: (name: string, args: Json[], signal: AbortSignal) => Promise<Json>,
): SimpleScope => {
  const signal = signalOf(at)
  const { name: variable, hole } = namesIn(at.scope)
  return {
    name: (name) => (Object.hasOwn(extra, name) ? (extra[name] ?? null) : variable(name)),
    hole,
    async call(name, args) {
      if (!functions.has(name)) throw unknownName(name)
      return await untilAborted(host(name, args, signal), signal)
    },
  }
}

const valueOf = async (at: StepContext, source: string): Promise<Json> => {
  const result = await evaluate(at, source)
  if (result.kind === 'value') return result.value
  throw new Error(result.kind === 'error' ? result.message : 'stopped')
}

const callFunction = async (
  name: string,
  args: Json[],
  context: FunctionContext,
  files: SharedFiles,
): Promise<Json> => {
  if (name === 'console') {
    context.print(
      'stdout',
      `${args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' ')}\n`,
    )
    return true
  }
  const definition = FUNCTIONS.get(name)
  if (definition === undefined) throw new Error(`there is no function ${name}`)
  await files.beforeLocal()
  try {
    return await resultOf(definition, args, context, {
      signal: context.signal,
      onFailure: (error) => context.recorder.log('warn', `${definition.name}: ${messageOf(error)}`),
    })
  } finally {
    files.afterLocal()
  }
}
