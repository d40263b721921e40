import type { Field, FieldType, NumberRange, ObjectSpec } from './field.ts'
import { NUMBER_TEXT, patternOf, SWITCH_TEXT, type FormName } from './forms.ts'
import { workflowSpec } from './workflow-spec.ts'

export type JsonSchema = { readonly [key: string]: unknown }

const SCALAR: JsonSchema = { type: ['string', 'number', 'boolean', 'null'] }

/** Numbers and texts: a YAML file has `30` or `"30"`. */
const formSchema = (form: FormName): JsonSchema =>
  form === 'url' || form === 'method'
    ? { type: ['string', 'null'], pattern: patternOf(form) }
    : {
        anyOf: [
          { type: ['string', 'null'], pattern: patternOf(form) },
          { type: form === 'count' ? 'integer' : 'number', minimum: 0 },
        ],
      }

const numberSchema = (whole: NumberRange | undefined): JsonSchema => {
  const limits = whole && {
    type: 'integer',
    minimum: whole.min,
    ...(whole.max === undefined ? {} : { maximum: whole.max }),
  }
  // The range of a number in quotes is checked by lint alone.
  return { anyOf: [limits ?? { type: 'number' }, { type: ['string', 'null'], pattern: NUMBER_TEXT }] }
}

/** Writes each object once, under `$defs`. */
class SchemaWriter {
  readonly defs: Record<string, JsonSchema> = {}
  readonly #names = new Map<string, string>()

  type(type: FieldType): JsonSchema {
    switch (type.kind) {
      case 'text':
        return this.#text(type)
      case 'flag':
        return {
          anyOf: [{ type: ['boolean', 'null'] }, { enum: [0, 1] }, { type: 'string', pattern: SWITCH_TEXT }],
        }
      case 'number':
        return numberSchema(type.whole)
      case 'json':
        return {}
      case 'list': {
        const items = this.type(type.of)
        const list: JsonSchema = { type: ['array', 'null'], items }
        if (type.comma === true || type.of.kind === 'text' || type.of.kind === 'number')
          return { anyOf: [list, SCALAR] }
        return type.of.kind === 'object' && type.of.shorthand !== undefined ? { anyOf: [list, SCALAR] } : list
      }
      case 'map':
        return { type: ['object', 'null'], additionalProperties: this.type(type.of) }
      case 'object': {
        const object = this.object(type.spec())
        return type.shorthand === undefined ? object : { anyOf: [object, SCALAR] }
      }
    }
  }

  #text({ oneOf, unsupported = [], form }: FieldType & { kind: 'text' }): JsonSchema {
    if (form !== undefined) return formSchema(form)
    return oneOf === undefined
      ? SCALAR
      : { enum: [...oneOf.filter((word) => !unsupported.includes(word)), null] }
  }

  object(spec: ObjectSpec): JsonSchema {
    const required = Object.entries(spec.fields).flatMap(([key, field]) =>
      field.required === true ? [key] : [],
    )
    const key = `${spec.name}:${required.join(',')}:${Object.keys(spec.fields).join(',')}`
    const known = this.#names.get(key)
    if (known !== undefined) return { $ref: `#/$defs/${known}` }
    const same = [...this.#names.keys()].filter((other) => other.startsWith(`${spec.name}:`)).length
    const name = same === 0 ? spec.name : `${spec.name}_${same + 1}`
    this.#names.set(key, name)
    const properties = Object.fromEntries(
      Object.entries(spec.fields).map(([field, of]) => [field, this.#field(of)]),
    )
    this.defs[name] = {
      type: 'object',
      properties,
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    }
    return { $ref: `#/$defs/${name}` }
  }

  #field({ type, doc }: Field): JsonSchema {
    return doc === '' ? this.type(type) : { description: doc, ...this.type(type) }
  }
}

/** The language as JSON Schema (2020-12) for editors, generated from the reader's tables. */
export const workflowJsonSchema = (): JsonSchema => {
  const writer = new SchemaWriter()
  const root = writer.object(workflowSpec)
  const workflow = writer.defs[workflowSpec.name]
  // Maps that are only named by aliases.
  writer.defs[workflowSpec.name] = { ...workflow, patternProperties: { '^x-': {} } }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Scanfarm workflow',
    ...root,
    $defs: writer.defs,
  }
}
