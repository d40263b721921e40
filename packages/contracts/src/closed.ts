import { Type, type TObjectOptions, type TProperties } from 'typebox'

/** An object without other fields. */
export const closed = <T extends TProperties>(fields: T, options?: TObjectOptions) =>
  Type.Object(fields, { ...options, additionalProperties: false })
