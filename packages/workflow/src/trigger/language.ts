import type { Engine } from '../execute/engine.ts'
import type { FunctionContext, FunctionDefinition } from '../functions/define.ts'
import { TEXT_FUNCTIONS } from '../functions/text.ts'
import type { Json } from '../model.ts'
import { evaluateExpr, type Variables } from '../template/evaluate.ts'
import { renderText } from '../template/render.ts'
import { fromJson, toJson, toPlain, type Value } from '../template/value.ts'
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

const FUNCTIONS: ReadonlyMap<string, FunctionDefinition> = new Map(
  TEXT_FUNCTIONS.functions.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one] as const)),
)

/** Triggers are looked at where no run is: a function that asks for one is told so. */
const NO_RUN = new Proxy({} as FunctionContext, {
  get() {
    throw new Error('this function needs a run, so a trigger cannot use it')
  },
})

const TOO_LONG = /^the expression took longer than /
const EVENT_FIELD = /^event\.([a-z_]+)$/
const DATA_PATH = /^event(?:_|\.)data((?:\.[A-Za-z_$][\w$-]*|\.\d+|\[\d+\])*)$/
const CALL = /^[A-Za-z_]\w*\s*\(.*\)$/s
const EVENT_FIELDS = 'topic source name id data_type workspace run_uuid workflow_name timestamp'.split(' ')

/** Why an input expression can never work, or undefined. */
export const inputProblem = (expression: string): string | undefined => {
  const field = EVENT_FIELD.exec(expression.trim())?.[1]
  if (field !== undefined && field !== 'data' && !EVENT_FIELDS.includes(field))
    return `event.${field} does not exist; there are ${EVENT_FIELDS.map((name) => `event.${name}`).join(', ')}`
  return undefined
}

/**
 * The expressions of a trigger: filters, dedupe keys and inputs, over one event. The event is data wherever it goes;
 * nothing in it is ever read as code, and programs run in the sandbox of the engine, under its limits.
 */
export class TriggerLanguage {
  readonly #engine: Engine
  readonly #late = new LatePrograms()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The value of a program over `event` and `event_data`. Rejects with what went wrong. */
  async value(source: string, event: TriggerEvent, signal: AbortSignal): Promise<Json> {
    this.#late.refuse(source)
    const program = this.#engine.program(source)
    const variables = variablesOf(event)
    const holes = program.holes.map(({ expr }) => evaluateExpr(expr, variables))
    const functions = [...program.calls.keys()].filter((name) => FUNCTIONS.has(name))
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
      host: (name, args) => FUNCTIONS.get(name)?.run(args, NO_RUN) ?? null,
      signal,
    })
    this.#late.tried(source, outcome.kind === 'error' && TOO_LONG.test(outcome.message))
    if (outcome.kind === 'value') return outcome.value
    throw new Error(outcome.kind === 'error' ? outcome.message : 'the evaluation was stopped')
  }

  /** A template over `event` and `event_data`, as text. */
  text(template: string, event: TriggerEvent): string {
    return renderText(this.#engine.template(template), variablesOf(event))
  }

  /**
   * An input of the run: `event_data.a.b` (or `event.data.a.b`, as filters say), `event.topic`, a call such as
   * `trim(event_data.url)`, a template, or anything else as it stands. What is not in the event is null.
   */
  async input(expression: string, event: TriggerEvent, signal: AbortSignal): Promise<Json> {
    const text = expression.trim()
    if (text.includes('{{')) return this.text(text, event)
    const path = DATA_PATH.exec(text)?.[1]
    if (path !== undefined) return at(event.data, path)
    const field = EVENT_FIELD.exec(text)?.[1]
    if (field !== undefined) return fieldOf(event, field)
    return CALL.test(text) ? await this.value(text, event, signal) : text
  }
}

const fieldOf = (event: TriggerEvent, field: string): Json => {
  const entry = Object.entries(event).find(([name]) => name === field)
  return entry === undefined ? null : (entry[1] as Json)
}

/** Own members only: `constructor` and its like are found where the event has them, and nowhere else. */
const at = (data: Json, path: string): Json => {
  let value: Json = data
  for (const key of path.match(/[^.[\]]+/g) ?? []) {
    if (Array.isArray(value)) value = value[Number(key)] ?? null
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, key))
      value = value[key] ?? null
    else return null
  }
  return value
}

const variablesOf = (event: TriggerEvent): Variables => {
  const values: ReadonlyMap<string, Value> = new Map([
    ['event', fromJson({ ...event })],
    ['event_data', fromJson(event.data)],
  ])
  return { get: (name) => values.get(name) }
}
