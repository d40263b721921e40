import type { Engine } from '../engine.ts'
import {
  type Json,
  evaluateExpr,
  type Variables,
  renderText,
  fromJson,
  toJson,
  toPlain,
  type Value,
  callProblem,
  at,
  eventField,
  parseTemplate,
  prepareProgram,
  readInput,
  withHyphens,
} from '@scanfarm/language'
import { FUNCTIONS } from '@scanfarm/functions'
import { callForTrigger, type TriggerFiles } from './functions.ts'
import { LatePrograms } from './late-programs.ts'

/** The `event` variable of trigger expressions; its `data` is also available as `event_data`. */
export interface TriggerEvent {
  readonly topic: string
  readonly id: string
  readonly name: string
  readonly source: string
  readonly data_type: string
  readonly data: { readonly [key: string]: Json }
  readonly workspace: string
  readonly run_uuid: string
  readonly workflow_name: string
  readonly timestamp: string
}

const TOO_LONG = /^the expression took longer than /

/**
 * Evaluates the expressions of triggers: filters, dedupe keys and inputs. The event is always data, never code, and
 * programs run in the sandbox of the engine, under its limits.
 */
export class TriggerLanguage {
  readonly #engine: Engine
  readonly #files: (() => TriggerFiles) | undefined
  readonly #late = new LatePrograms()

  /** If `files` is missing, functions that read files fail. */
  constructor(engine: Engine, files?: () => TriggerFiles) {
    this.#engine = engine
    this.#files = files
  }

  /** Evaluates an expression with `event` and `event_data`. */
  async value(source: string, event: TriggerEvent, signal: AbortSignal): Promise<Json> {
    this.#late.refuse(source)
    const program = prepareProgram(withHyphens(source))
    const variables = variablesOf(event)
    const holes = program.holes.map(({ expr }) => evaluateExpr(expr, variables))
    const called = [...program.calls.keys()]
    const functions = called.filter((name) => FUNCTIONS.get(name)?.inTriggers !== undefined)
    const refused = called
      .map((name) => callProblem(name, FUNCTIONS))
      .find((problem) => problem !== undefined)
    if (refused !== undefined) throw new Error(refused)
    const context = { engine: this.#engine, files: this.#files, workspace: event.workspace }
    const outcome = await this.#engine.expressions.evaluate({
      code: program.script,
      globals: {
        event: { ...event },
        event_data: event.data,
        ...(holes.length > 0
          ? { $hole: holes.map(toJson), $text: holes.map(toPlain), $shell: holes.map(toPlain) }
          : {}),
      },
      functions,
      host: (name, args, until) => callForTrigger(name, args, context, until),
      signal,
    })
    this.#late.tried(source, outcome.kind === 'error' && TOO_LONG.test(outcome.message))
    if (outcome.kind === 'value') return outcome.value
    throw new Error(outcome.kind === 'error' ? outcome.message : 'the evaluation was stopped')
  }

  /** Renders a template with `event` and `event_data` as text. */
  text(template: string, event: TriggerEvent): string {
    return renderText(parseTemplate(withHyphens(template)), variablesOf(event))
  }

  /**
   * Evaluates an input of a run: `event_data.a.b` (or `event.data.a.b`, as in filters), `event.topic`, a call like
   * `trim(event_data.url)`, a template, or a literal text. Missing fields are null.
   */
  async input(expression: string, event: TriggerEvent, signal: AbortSignal): Promise<Json> {
    const read = readInput(expression, FUNCTIONS)
    switch (read.kind) {
      case 'data':
        return at(event.data, read.path)
      case 'field':
        return eventField(event, read.name)
      case 'template':
        return this.text(read.text, event)
      case 'expression':
        return await this.value(read.source, event, signal)
      case 'literal':
        return read.text
    }
  }
}

const variablesOf = (event: TriggerEvent): Variables => {
  const values: ReadonlyMap<string, Value> = new Map([
    ['event', fromJson({ ...event })],
    ['event_data', fromJson(event.data)],
  ])
  return { get: (name) => values.get(name) }
}
