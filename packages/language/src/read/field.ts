import type { FormName } from './forms.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * The description of the language for the reader, the types of the model, the JSON Schema and the documentation: one
 * table per object, so that the four cannot differ.
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

/** `argument`: it follows a command. `apart`: the texts do not belong to the object. */
export type Use = 'template' | 'shell' | 'argument' | 'expression' | 'export' | 'apart'

export interface Field<Value = unknown> {
  readonly type: FieldType
  readonly doc: string
  /** `wanted`: an object without this field is ignored with a warning. */
  readonly required?: boolean | 'wanted'
  /** How the texts of the field are used; other texts are neither rendered nor evaluated. */
  readonly use?: Use
  /** Names that exist only in the texts of this field. */
  readonly names?: readonly string[]
  /** Only the compiler reads it. */
  readonly value?: Value
}

export interface ObjectSpec<Value = unknown> {
  readonly name: string
  readonly fields: Readonly<Record<string, Field>>
  /** Only the compiler reads it. */
  readonly value?: Value
}

/** Objects with these fields. A field that is missing is also missing after reading. */
export type ValueOf<Fields> = {
  -readonly [Key in keyof Fields]?: Fields[Key] extends Field<infer Value> ? Value : never
}

/** With the fields that every object has after reading. */
export type Having<Key extends keyof Fields, Fields> = Omit<ValueOf<Fields>, Key> &
  Required<Pick<ValueOf<Fields>, Key>>

export const spec = <Fields extends Readonly<Record<string, Field>>>(
  name: string,
  fields: Fields,
): ObjectSpec<ValueOf<Fields>> => ({ name, fields })

export const of =
  <Value>(type: FieldType) =>
  (doc: string, required: Field['required'] = false): Field<Value> => ({ type, doc, required })

export const text = of<string>({ kind: 'text' })
export const flag = of<boolean>({ kind: 'flag' })
export const number = of<number>({ kind: 'number' })
export const whole = (doc: string, whole: NumberRange, required = false): Field<number> => ({
  type: { kind: 'number', whole },
  doc,
  required,
})
export const formed = (form: FormName, doc: string): Field<string> => ({ type: { kind: 'text', form }, doc })
export const json = of<Json>({ kind: 'json' })
export const jsonAsWritten = of<Json>({ kind: 'json', asWritten: true })
export const numbers = of<number[]>({ kind: 'list', of: { kind: 'number' } })
export const jsons = of<Json[]>({ kind: 'list', of: { kind: 'json' } })
export const texts = of<string[]>({ kind: 'list', of: { kind: 'text' } })
export const words = of<string[]>({ kind: 'list', of: { kind: 'text' }, comma: true })
export const textMap = of<Record<string, string>>({ kind: 'map', of: { kind: 'text' } })
export const jsonMap = of<{ [key: string]: Json }>({ kind: 'map', of: { kind: 'json' } })
export const jsonMapAsWritten = of<{ [key: string]: Json }>({
  kind: 'map',
  of: { kind: 'json', asWritten: true },
})

export const choice = <const Word extends string>(
  oneOf: readonly Word[],
  doc: string,
  required = false,
): Field<Word> => ({ type: { kind: 'text', oneOf }, doc, required })
export const preferably = <const Word extends string>(
  oneOf: readonly Word[],
  doc: string,
  required: Field['required'] = false,
): Field<Word> => ({ type: { kind: 'text', oneOf, lenient: true }, doc, required })

const using =
  (use: Use) =>
  <Value>(field: Field<Value>, ...names: string[]): Field<Value> => ({ ...field, use, names })
export const template = using('template')
export const shell = using('shell')
export const argument = using('argument')
export const expression = using('expression')
export const exported = using('export')
export const apart = using('apart')

type Spec<Value> = () => ObjectSpec<Value>
export const object = <Value>(spec: Spec<Value>, doc: string, shorthand?: string): Field<Value> => ({
  type: { kind: 'object', spec, shorthand },
  doc,
})
export const list = <Value>(spec: Spec<Value>, doc: string, shorthand?: string): Field<Value[]> => ({
  type: { kind: 'list', of: { kind: 'object', spec, shorthand } },
  doc,
})
export const map = <Value>(spec: Spec<Value>, doc: string): Field<Record<string, Value>> => ({
  type: { kind: 'map', of: { kind: 'object', spec } },
  doc,
})
