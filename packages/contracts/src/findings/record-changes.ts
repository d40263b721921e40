import { Type, type Static } from 'typebox'

const Content = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])
/** A record before and after a change; null: it did not or does not exist. */
export const RecordChange = Type.Object({ id: Type.Integer(), before: Content, after: Content })
export type RecordChange = Static<typeof RecordChange>

const Changes = Type.Array(RecordChange)
const Total = Type.Integer({ minimum: 0 })
/** The lists may be truncated; the totals count all changes. */
export const RecordChanges = Type.Object({
  new: Changes,
  gone: Changes,
  changed: Changes,
  total_new: Total,
  total_gone: Total,
  total_changed: Total,
})
export type RecordChanges = Static<typeof RecordChanges>
