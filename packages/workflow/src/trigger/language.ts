import type { Engine } from '../execute/engine.ts'
import type { Json } from '../model.ts'
import { evaluateExpr, type Variables } from '../template/evaluate.ts'
import { renderText } from '../template/render.ts'
import { fromJson, toJson, toPlain, type Value } from '../template/value.ts'
import { callForTrigger, callProblem, TRIGGER_FUNCTIONS, type TriggerFiles } from './functions.ts'
import { at, eventField, readInput, withHyphens } from './input.ts'
import { LatePrograms } from './late-programs.ts'

/** What expressions of a trigger see as `event`; `data` stands also alone, as `event_data`. */
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
 * The expressions of a trigger: filters, dedupe keys and inputs, over one event. The event is data wherever it goes;
 * nothing in it is ever read as code, and programs run in the sandbox of the engine, under its limits.
 */
export class TriggerLanguage {
  readonly #engine: Engine
  readonly #files: (() => TriggerFiles) | undefined
  readonly #late = new LatePrograms()

  /** Without `files` functions that read them fail. */
  constructor(engine: Engine, files?: () => TriggerFiles) {
    this.#engine = engine
    this.#files = files
  }

  /** The value of a program over `event` and `event_data`. Rejects with what went wrong. */
  async value(source: string, event: TriggerEvent, signal: AbortSignal): Promise<Json> {
    this.#late.refuse(source)
    const program = this.#engine.program(withHyphens(source))
    const variables = variablesOf(event)
    const holes = program.holes.map(({ expr }) => evaluateExpr(expr, variables))
    const functions = [...program.calls.keys()].filter((name) => TRIGGER_FUNCTIONS.has(name))
    const refused = [...program.calls.keys()].map(callProblem).find((problem) => problem !== undefined)
    if (refused !== undefined) throw new Error(refused)
    const context = { engine: this.#engine, files: this.#files, workspace: event.workspace }
    const outcome = await this.#engine.expressions.evaluate({
      code: program.code,
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

  /** A template over `event` and `event_data`, as text. */
  text(template: string, event: TriggerEvent): string {
    return renderText(this.#engine.template(withHyphens(template)), variablesOf(event))
  }

  /**
   * An input of the run: `event_data.a.b` (or `event.data.a.b`, as filters say), `event.topic`, a call such as
   * `trim(event_data.url)`, a template, or anything else as it stands. What is not in the event is null.
   */
  async input(expression: string, event: TriggerEvent, signal: AbortSignal): Promise<Json> {
    const read = readInput(expression)
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
