import type { FormName } from './forms.ts'

/**
 * The description of the language for the reader, the JSON Schema and the documentation: one table per object,
 * checked by the compiler against the model's interface, so that the three cannot differ.
 */
export type FieldType =
  /** Any scalar as written: `1.10` stays `1.10`. */
  | {
      readonly kind: 'text'
      readonly oneOf?: readonly string[]
      /** Of `oneOf`: words that the reader knows only to explain why they are refused. */
      readonly unsupported?: readonly string[]
      readonly form?: FormName
      /** Any other text is ignored with a warning. */
      readonly lenient?: boolean
    }
  | { readonly kind: 'flag' }
  | { readonly kind: 'number'; readonly whole?: NumberRange }
  /** `asWritten`: a number that JSON writes differently, like `1.10` or `0123`, is the text of the file. */
  | { readonly kind: 'json'; readonly asWritten?: boolean }
  /** A single value is a list of one; with `comma` a text is split at commas. */
  | { readonly kind: 'list'; readonly of: FieldType; readonly comma?: boolean }
  | { readonly kind: 'map'; readonly of: FieldType }
  /** `shorthand` is the field that a bare scalar sets. */
  | { readonly kind: 'object'; readonly spec: () => ObjectSpec; readonly shorthand?: string }

/** A whole number; both ends are included. */
export interface NumberRange {
  readonly min: number
  readonly max?: number
}

export interface Field {
  readonly type: FieldType
  readonly doc: string
  /** `wanted`: an object without this field is ignored with a warning. */
  readonly required?: boolean | 'wanted'
}

export interface ObjectSpec {
  readonly name: string
  readonly fields: Readonly<Record<string, Field>>
}

/** An `ObjectSpec` that has exactly the keys of `T`. */
export const spec = <T extends object>(
  name: string,
  fields: Readonly<Record<keyof T & string, Field>>,
): ObjectSpec => ({ name, fields })

const of =
  (type: FieldType) =>
  (doc: string, required: Field['required'] = false): Field => ({ type, doc, required })

export const text = of({ kind: 'text' })
export const flag = of({ kind: 'flag' })
export const number = of({ kind: 'number' })
export const whole = (doc: string, whole: NumberRange, required = false): Field => ({
  type: { kind: 'number', whole },
  doc,
  required,
})
export const formed = (form: FormName, doc: string): Field => ({ type: { kind: 'text', form }, doc })
export const json = of({ kind: 'json' })
export const jsonAsWritten = of({ kind: 'json', asWritten: true })
export const texts = of({ kind: 'list', of: { kind: 'text' } })
export const words = of({ kind: 'list', of: { kind: 'text' }, comma: true })
export const textMap = of({ kind: 'map', of: { kind: 'text' } })
export const jsonMap = of({ kind: 'map', of: { kind: 'json' } })
export const jsonMapAsWritten = of({ kind: 'map', of: { kind: 'json', asWritten: true } })

export const choice = (oneOf: readonly string[], doc: string, required = false): Field => ({
  type: { kind: 'text', oneOf },
  doc,
  required,
})
export const preferably = (
  oneOf: readonly string[],
  doc: string,
  required: Field['required'] = false,
): Field => ({
  type: { kind: 'text', oneOf, lenient: true },
  doc,
  required,
})
export const object = (spec: () => ObjectSpec, doc: string, shorthand?: string): Field => ({
  type: { kind: 'object', spec, ...(shorthand === undefined ? {} : { shorthand }) },
  doc,
})
export const list = (spec: () => ObjectSpec, doc: string, shorthand?: string): Field => ({
  type: { kind: 'list', of: object(spec, '', shorthand).type },
  doc,
})
export const map = (spec: () => ObjectSpec, doc: string): Field => ({
  type: { kind: 'map', of: { kind: 'object', spec } },
  doc,
})
