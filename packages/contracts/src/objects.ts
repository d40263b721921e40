import { Type, type TObjectOptions, type TProperties } from 'typebox'

/** An object without other fields. */
export const closed = <T extends TProperties>(fields: T, options?: TObjectOptions) =>
  Type.Object(fields, { ...options, additionalProperties: false })

/** An object that the OpenAPI document describes once, by this name. */
export const named = <T extends TProperties>(name: string, fields: T) => Type.Object(fields, { $id: name })
