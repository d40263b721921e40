import { AppError, type Warnings } from '@scanfarm/contracts'
import type { NamedKind } from '@scanfarm/store'
import { Type } from 'typebox'
import type { ServerContext } from '../context.ts'
import { missing } from '../http/refusal.ts'

/** The path of a record that callers may also name. */
export const NamedPath = Type.Object({ id: Type.String({ description: 'Id or name' }) })

/** The id of the record with this id or name. A name of several is refused: nothing is done to the wrong one. */
export const idOf = async (
  { store }: Pick<ServerContext, 'store'>,
  kind: NamedKind,
  ref: string,
): Promise<string> => {
  const ids = await store.named.ids(kind, ref)
  const [id, another] = ids
  if (id === undefined) throw missing(kind, ref)
  if (another === undefined) return id
  throw new AppError(
    'conflict',
    `several of the kind ${kind} have the name ${JSON.stringify(ref)}; give an id: ${ids.join(', ')}`,
  )
}

/** A warning if a name that was sent no longer tells records apart. Existing clients create several of one name. */
export const nameWarnings = async (
  { store }: Pick<ServerContext, 'store'>,
  kind: 'schedule' | 'subscription',
  name: string | undefined,
): Promise<Warnings> => {
  const ids = name === undefined ? [] : await store.named.ids(kind, name)
  const message = `several ${kind}s have this name: only their ids ${ids.join(', ')} tell them apart`
  return ids.length < 2 ? [] : [{ field: 'name', message }]
}

/** Warnings in an answer, if there are any. */
export const warned = (warnings: Warnings): { warnings?: Warnings } =>
  warnings.length === 0 ? {} : { warnings }
