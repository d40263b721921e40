import { FUNCTIONS } from '../functions/registry.ts'
import { answerAfter, textArg, type FunctionContext } from '../functions/define.ts'
import { EndRun, SkipModule } from '../functions/utility.ts'
import { evaluateSimple, type SimpleWorld } from '../expression/simple.ts'
import type { Program } from '../expression/source.ts'
import { messageOf } from '../fault.ts'
import type { Json } from '../model.ts'
import { evaluateExpr } from '../template/evaluate.ts'
import { asNumber, Text, toJson, toPlain, type Value } from '../template/value.ts'
import { ShellPlaces } from './shell-places.ts'
import type { SharedFiles } from './shared-files.ts'
import { isAuthorsVariable, refuseJoined } from './code-arguments.ts'
import { functionContext } from './function-context.ts'
import type { StepRun } from './place.ts'
import { signalOf } from './step-limit.ts'

/** What became of an expression. */
export type Evaluated =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'skip-module'; readonly message: string }

/** Texts that say true or false mean it. */
const asBoolean = (value: Value): Json => {
  const text = value instanceof Text ? value.toString() : undefined
  return text === 'true' ? true : text === 'false' ? false : toJson(value)
}

/** A hole in code: what the text would mean if it stood there, but never as code. */
const inCode = (value: Value): Json => {
  const json = asBoolean(value)
  if (typeof json !== 'string') return json
  const number = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(json) ? asNumber(value) : undefined
  return number ?? json
}

const globalsFor = (
  program: Program,
  at: StepRun,
  functions: ReadonlySet<string>,
  places: ShellPlaces,
): Record<string, Json> => {
  const globals: Record<string, Json> = {}
  for (const name of program.names) {
    if (functions.has(name)) continue
    const value = at.scope.get(name)
    if (value !== undefined) globals[name] = asBoolean(value)
  }
  if (program.holes.length > 0) {
    const values = program.holes.map(({ expr }) => evaluateExpr(expr, at.scope))
    globals['$hole'] = values.map(inCode)
    globals['$text'] = values.map(toPlain)
    globals['$shell'] = values.map((value) => places.keep(value))
  }
  return globals
}

/** A name is a function when it is called, and a variable of the same name otherwise. */
const functionsOf = (program: Program, at: StepRun): Set<string> =>
  new Set(
    [...program.names].filter(
      (name) => FUNCTIONS.has(name) && (program.calls.has(name) || at.scope.get(name) === undefined),
    ),
  )

/** Evaluates an expression of the author over the variables of the step. Never throws. */
export const evaluate = async (
  at: StepRun,
  source: string,
  extra: Readonly<Record<string, Json>> = {},
): Promise<Evaluated> => {
  const { run } = at.module
  const signal = signalOf(at)
  let skipped: SkipModule | undefined
  let ended = ''
  const places = new ShellPlaces()
  const host = async (name: string, args: Json[], until: AbortSignal): Promise<Json> => {
    try {
      const context = functionContext(at, until, async (inner) => await valueOf(at, inner))
      // An agent's tool gets its arguments from the model, as the author of the step allows.
      const program = run.engine.program(source)
      if (!Object.hasOwn(extra, '$args')) refuseJoined(program, name, args, at.scope, run.around.filesRun)
      if (FUNCTIONS.get(name)?.name === 'os_setenv') {
        if (isAuthorsVariable(program, args, at.scope)) delete run.foreignEnv[textArg(args, 0)]
        else run.foreignEnv[textArg(args, 0)] = textArg(args, 1)
      }
      return await callFunction(name, places.fill(name, args, run.around), context, run.files)
    } catch (error) {
      if (error instanceof SkipModule) skipped = error
      if (error instanceof EndRun && error.code === 0) skipped = new SkipModule('exit(0)')
      if (error instanceof EndRun) ended = error.message
      throw error
    }
  }
  try {
    const program = run.engine.program(source)
    const functions = functionsOf(program, at)
    if (program.simple !== undefined) {
      const value = await evaluateSimple(program.simple, simpleWorld(at, functions, extra, host))
      return signal.aborted ? { kind: 'cancelled' } : { kind: 'value', value }
    }
    const globals = { ...globalsFor(program, at, functions, places), ...extra }
    const request = { code: program.code, globals, functions: [...functions], signal, host }
    const outcome = await run.engine.expressions.evaluate(request)
    if (skipped !== undefined) return { kind: 'skip-module', message: skipped.message }
    return ended === '' ? outcome : { kind: 'error', message: ended }
  } catch (error) {
    if (skipped !== undefined) return { kind: 'skip-module', message: skipped.message }
    if (signal.aborted) return { kind: 'cancelled' }
    return { kind: 'error', message: messageOf(error) }
  }
}

/** Ends the wait for a function when the run is cancelled, also where the function itself does not notice. */
const untilAborted = async <Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new Error('cancelled'))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const simpleWorld = (
  at: StepRun,
  functions: ReadonlySet<string>,
  extra: Readonly<Record<string, Json>>,
  host: (name: string, args: Json[], signal: AbortSignal) => Promise<Json>,
): SimpleWorld => {
  const signal = signalOf(at)
  const unknown = (name: string) => new Error(`ReferenceError: '${name}' is not defined`)
  return {
    name(name) {
      const given = extra[name]
      if (given !== undefined) return given
      const value = at.scope.get(name)
      if (value === undefined) throw unknown(name)
      return asBoolean(value)
    },
    hole(expr, quoted) {
      const value = evaluateExpr(expr, at.scope)
      return quoted ? toPlain(value) : inCode(value)
    },
    async call(name, args) {
      if (!functions.has(name)) throw unknown(name)
      return await untilAborted(host(name, args, signal), signal)
    },
  }
}

const valueOf = async (at: StepRun, source: string): Promise<Json> => {
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
    return await definition.run(args, context)
  } catch (error) {
    const answer = context.signal.aborted ? undefined : answerAfter(error, definition)
    if (answer === undefined) throw error
    context.recorder.log('warn', `${definition.name}: ${messageOf(error)}`)
    return answer
  } finally {
    files.afterLocal()
  }
}
