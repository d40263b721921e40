import type { FunctionTable } from '../function-table.ts'
import type { Json } from '../model.ts'

/** A parsed input of a trigger. */
export type Input =
  | { readonly kind: 'data'; readonly path: readonly string[] }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'template'; readonly text: string }
  | { readonly kind: 'expression'; readonly source: string }
  | { readonly kind: 'literal'; readonly text: string }

const DATA_PATH = /^event(?:_|\.)data((?:\.[^\s.[\](){}]+|\[\d+\])*)$/
const EVENT_FIELD = /^event\.([A-Za-z_][\w.]*)$/
const CALL = /^([A-Za-z_]\w*)\s*\(/

const keysOf = (path: string): string[] => path.match(/[^.[\]]+/g) ?? []

export const readInput = (written: string, functions: FunctionTable): Input => {
  const text = written.trim()
  const path = DATA_PATH.exec(text)?.[1]
  if (path !== undefined) return { kind: 'data', path: keysOf(path) }
  const name = EVENT_FIELD.exec(text)?.[1]
  if (name !== undefined) return { kind: 'field', name }
  const called = CALL.exec(text)?.[1]
  const isTemplate = text.includes('{{')
  const isCall =
    called !== undefined && (functions.has(called) || (!isTemplate && /^\w+\s*\(.*\)$/s.test(text)))
  if (isCall) return { kind: 'expression', source: lenient(text) }
  return { kind: isTemplate ? 'template' : 'literal', text }
}

/** A text or `{{` without an end extends to the end of the source, so that each character is matched once. */
const TEXT_OR_FIELD =
  /"(?:\\.|[^"\\])*(?:"|\\?$)|'(?:\\.|[^'\\])*(?:'|\\?$)|`(?:\\.|[^`\\])*(?:`|\\?$)|\{\{.*?(?:\}\}|$)|(?<![\w$.])event(?:_data)?(?:\.[A-Za-z_$][\w$]*)+(?!\s*\(|[\w$])/gs

/** In calls, a field that the event lacks is "" and never an error. */
const lenient = (source: string): string =>
  source.replaceAll(TEXT_OR_FIELD, (part) => (part.startsWith('event') ? `({{${part}}} ?? "")` : part))

/** Supports `{{event.data.template-id}}`: keys of tools have hyphens, which would otherwise be a subtraction. */
export const withHyphens = (text: string): string =>
  text.replaceAll(
    /\{\{\s*(event_data|event\.data)((?:\.[A-Za-z_][\w-]*)+)\s*\}\}/g,
    (whole, root: string, path: string) =>
      path.includes('-') && !path.includes('-event')
        ? `{{${root}${keysOf(path)
            .map((key) => `['${key}']`)
            .join('')}}}`
        : whole,
  )

/** A field of the event; null if it has none of this name. */
export const eventField = (event: object, name: string): Json => {
  const entry = Object.entries(event).find(([key]) => key === name)
  return entry === undefined ? null : (entry[1] as Json)
}

/** Reads own members only, so that `constructor` is null unless the event has it. */
export const at = (data: Json, path: readonly string[]): Json => {
  let value: Json = data
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)] ?? null
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, key))
      value = value[key] ?? null
    else return null
  }
  return value
}
