import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Static, TSchema } from 'typebox'
import { AppError, type ErrorCode, type FieldError } from './error.ts'

/** `strict` for bodies. `coerce` for query and path parameters, which arrive as text. */
export type Strictness = 'strict' | 'coerce'

export type Parser<T> = (value: unknown) => T

const MAX_DETAILS = 50

const engine = (strictness: Strictness): Ajv2020 => {
  const ajv = new Ajv2020({
    allErrors: true,
    coerceTypes: strictness === 'coerce' ? 'array' : false,
    useDefaults: true,
    strict: false,
    // All schemas are our own, and a test checks them. To compile the schema of schemas takes longer than to compile them.
    validateSchema: false,
    verbose: true,
    ownProperties: true,
  })
  // ajv-formats is CommonJS: depending on the loader, its function is `default` or the module itself.
  const add =
    typeof formats === 'function' ? formats : (formats as { default: typeof formats.default }).default
  add(ajv as never)
  return ajv
}

const engines: Partial<Record<Strictness, Ajv2020>> = {}

/**
 * The validator for all external input. The parser returns the value with defaults, typed by the schema, or throws an
 * `AppError` that lists all invalid fields. Its first call compiles the schema: programs use few of the hundreds that
 * they declare.
 */
export function compile<S extends TSchema>(
  schema: S,
  options: { strictness?: Strictness; code?: ErrorCode; subject?: string } = {},
): Parser<Static<S>> {
  const strictness = options.strictness ?? 'strict'
  let compiled: ValidateFunction<Static<S>> | undefined
  const read = strictness === 'coerce' ? plainIntegers(schema) : (value: unknown) => value
  return (given) => {
    const value = read(given)
    const validate = (compiled ??= (engines[strictness] ??= engine(strictness)).compile<Static<S>>(schema))
    if (validate(value)) return value
    const details = fieldErrors(validate.errors ?? [])
    throw new AppError(options.code ?? 'invalid_input', summary(options.subject ?? 'request', details), {
      details,
    })
  }
}

const DIGITS = /^-?\d+$/
/** A text that cannot be coerced to a number. */
const NO_NUMBER = '?'

/** Rejects integers that coercion would accept but that were probably meant differently: `1e3`, `0x10`, ` 7`. */
const plainIntegers = (schema: TSchema): ((value: unknown) => unknown) => {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer')
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const texts = value as Record<string, unknown>
    const odd = integers.filter((name) => typeof texts[name] === 'string' && !DIGITS.test(texts[name]))
    return odd.length === 0
      ? value
      : { ...texts, ...Object.fromEntries(odd.map((name) => [name, NO_NUMBER])) }
  }
}

const summary = (subject: string, details: readonly FieldError[]): string => {
  const first = details[0]
  if (!first) return `the ${subject} is not valid`
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  return first.path === ''
    ? `the ${subject} ${first.message}${more}`
    : `${first.path.slice(1)}: ${first.message}${more}`
}

const fieldErrors = (errors: readonly ErrorObject[]): FieldError[] => {
  const seen = new Map<string, FieldError>()
  // A failed union is reported as one error; the errors of its branches would only confuse.
  const unions = new Set(
    errors.filter((error) => error.keyword === 'anyOf').map((error) => error.instancePath),
  )
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && unions.has(error.instancePath)) continue
    const found = fieldError(error)
    if (found && !seen.has(`${found.path}\n${found.message}`))
      seen.set(`${found.path}\n${found.message}`, found)
    if (seen.size >= MAX_DETAILS) break
  }
  return [...seen.values()]
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const fieldError = (error: ErrorObject): FieldError | undefined => {
  const { keyword, instancePath, params } = error
  const text = (key: string): string => String((params as Record<string, unknown>)[key])
  switch (keyword) {
    case 'required':
      return { path: `${instancePath}/${escapePointer(text('missingProperty'))}`, message: 'is required' }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = text(keyword === 'additionalProperties' ? 'additionalProperty' : 'unevaluatedProperty')
      return { path: `${instancePath}/${escapePointer(name)}`, message: 'is not a known field' }
    }
    case 'enum': {
      const allowed = (params as { allowedValues: unknown[] }).allowedValues
      return { path: instancePath, message: `must be one of ${allowed.join(', ')}` }
    }
    case 'type':
      return { path: instancePath, message: `must be ${text('type').replace(',', ' or ')}` }
    case 'anyOf':
      return { path: instancePath, message: `must be ${unionWords(error.parentSchema)}` }
    // The applicable branch reports its own error.
    case 'if':
      return undefined
    default:
      if (/^min(Length|Items|Properties)$/.test(keyword) && text('limit') === '1')
        return { path: instancePath, message: 'must not be empty' }
      return { path: instancePath, message: error.message ?? `breaks the rule ${keyword}` }
  }
}

const unionWords = (schema: unknown): string => {
  const { description, anyOf } = (schema ?? {}) as { description?: string; anyOf?: { type?: string }[] }
  return description ?? (anyOf ?? []).map((branch) => branch.type ?? 'another shape').join(' or ')
}
