import { mkdir } from 'node:fs/promises'
import { FUNCTIONS } from '../functions/registry.ts'
import type { ExecResult, FunctionContext } from '../functions/define.ts'
import { SkipModule } from '../functions/utility.ts'
import type { Program } from '../expression/source.ts'
import { messageOf } from '../fault.ts'
import type { Json } from '../model.ts'
import { evaluateExpr } from '../template/evaluate.ts'
import { asNumber, fromJson, Text, toJson, toPlain, type Value } from '../template/value.ts'
import { Capture } from './capture.ts'
import { environmentOf } from './command.ts'
import type { StepRun } from './place.ts'

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

const globalsFor = (program: Program, at: StepRun, functions: ReadonlySet<string>): Record<string, Json> => {
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
  let skipped: SkipModule | undefined
  try {
    const program = run.engine.program(source)
    const context = functionContext(at)
    const functions = functionsOf(program, at)
    const outcome = await run.engine.expressions.evaluate({
      code: program.code,
      globals: { ...globalsFor(program, at, functions), ...extra },
      functions: [...functions],
      signal: run.signal,
      host: async (name, args, signal) => {
        try {
          return await callFunction(name, args, { ...context, signal })
        } catch (error) {
          if (error instanceof SkipModule) skipped = error
          throw error
        }
      },
    })
    if (skipped !== undefined) return { kind: 'skip-module', message: skipped.message }
    return outcome
  } catch (error) {
    return { kind: 'error', message: messageOf(error) }
  }
}

const callFunction = async (name: string, args: Json[], context: FunctionContext): Promise<Json> => {
  if (name === 'console') {
    context.print(
      'stdout',
      `${args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' ')}\n`,
    )
    return true
  }
  const definition = FUNCTIONS.get(name)
  if (definition === undefined) throw new Error(`there is no function ${name}`)
  return await definition.run(args, context)
}

/** What the functions that a step calls may see and do. */
export const functionContext = (at: StepRun): FunctionContext => {
  const { run, scope, exported } = at.module
  const { input } = run
  return {
    signal: run.signal,
    folders: input.folders,
    env: input.env,
    ports: run.ports,
    services: input.services ?? {},
    workspace: input.workspace,
    target: input.target,
    runUuid: input.runUuid,
    recorder: input.recorder,
    variable: (name) => {
      const value = at.scope.get(name)
      return value === undefined ? undefined : toJson(value)
    },
    setVariable: (name, value) => {
      scope.set(name, fromJson(value))
      at.scope.set(name, fromJson(value))
      exported.add(name)
    },
    print: (stream, text) => {
      if (at.step.suppress_details !== true) void input.recorder.output(at.key, stream, Buffer.from(text))
    },
    exec: async (argv, options = {}) => await execHere(at, argv, options),
    evaluate: async (expression) => {
      const result = await evaluate(at, expression)
      if (result.kind === 'value') return result.value
      throw new Error(result.kind === 'error' ? result.message : 'stopped')
    },
  }
}

const execHere = async (
  at: StepRun,
  argv: readonly string[],
  { timeoutMs, cwd }: { timeoutMs?: number; cwd?: string },
): Promise<ExecResult> => {
  const { run } = at.module
  const runner = await run.runner({ type: 'host' })
  const capture = new Capture(run.limits.captureBytes)
  if (cwd !== undefined) await mkdir(cwd, { recursive: true })
  let pid = 0
  const outcome = await runner.run(
    {
      argv,
      env: environmentOf(run.input),
      graceMs: run.limits.graceMs,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(cwd === undefined ? {} : { cwd }),
    },
    {
      signal: run.signal,
      onStart: (started) => {
        pid = started
        run.pidStarted(started)
      },
      onOutput: (stream, chunk) => capture.add(stream, chunk),
    },
  )
  if (pid !== 0) run.pidEnded(pid)
  if (outcome.kind === 'cancelled' || outcome.kind === 'timed-out') {
    for (const killed of outcome.killed) run.killed.add(killed)
  }
  return {
    exitCode: outcome.kind === 'exited' ? outcome.code : -1,
    stdout: capture.text('stdout'),
    stderr: capture.text('stderr'),
    problem:
      outcome.kind === 'exited'
        ? ''
        : 'reason' in outcome && outcome.reason !== undefined
          ? outcome.reason
          : outcome.kind,
  }
}
