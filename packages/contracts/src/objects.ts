import { Type, type TObjectOptions, type TProperties, type TSchema } from 'typebox'

/** Those of some fields that are not undefined. */
export const picked = <T extends object, K extends keyof T>(of: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.flatMap((name) => (of[name] === undefined ? [] : [[name, of[name]]]))) as Pick<
    T,
    K
  >

/** An object without other fields. */
export const closed = <T extends TProperties>(fields: T, options?: TObjectOptions) =>
  Type.Object(fields, { ...options, additionalProperties: false })

/** An object that the OpenAPI document describes once, by this name. */
export const named = <T extends TProperties>(name: string, fields: T) => Type.Object(fields, { $id: name })

export const text = (description: string) => Type.String({ description })
export const flag = (description: string) => Type.Boolean({ description })
export const Count = Type.Integer({ minimum: 0 })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
