import { Asset, Vulnerability, type RecordChange, type RecordChanges } from '@scanfarm/contracts'
import type { Store } from '@scanfarm/store'
import { Type } from 'typebox'

const Total = Type.Integer({ minimum: 0 })
const Records = Type.Array(Type.Union([Vulnerability, Asset]))

/** What answers below `/osm/api` have in addition, as clients of Osmedeus read it. */
export const EstablishedDiff = Type.Partial(
  Type.Object({
    workspace_name: Type.String({ description: 'Only below /osm/api, like the following fields' }),
    from_time: Type.String({ format: 'date-time' }),
    to_time: Type.String({ format: 'date-time' }),
    added: Records,
    removed: Records,
    summary: Type.Object({ total_added: Total, total_removed: Total, total_changed: Total }),
  }),
)

/** What a changed record has in addition there. */
export const EstablishedChange = Type.Partial(
  Type.Object({
    asset_id: Type.Integer(),
    url: Type.String(),
    vuln_id: Type.Integer(),
    vuln_info: Type.String(),
    asset_value: Type.String(),
    changes: Type.Array(
      Type.Object({ field: Type.String(), old_value: Type.Unknown(), new_value: Type.Unknown() }),
    ),
  }),
)

const idsOf = (changes: readonly RecordChange[]): number[] => changes.map(({ id }) => id)

/** The changed fields of a record; the list of a period does not know the earlier values, so it has none. */
const changedFields = ({ before, after }: RecordChange) =>
  Object.entries(before === null ? {} : (after ?? {}))
    .filter(([field, value]) => JSON.stringify(before?.[field]) !== JSON.stringify(value))
    .map(([field, value]) => ({ field, old_value: before?.[field] ?? null, new_value: value }))

const textOf = (record: RecordChange['after'], field: string): string => {
  const value = record?.[field]
  return typeof value === 'string' ? value : ''
}

export const establishedDiff = async (
  { assets, vulnerabilities }: Pick<Store, 'assets' | 'vulnerabilities'>,
  kind: 'vulnerability' | 'asset',
  changes: RecordChanges,
) => {
  const records = (some: readonly RecordChange[]): Promise<(Asset | Vulnerability)[]> =>
    kind === 'asset' ? assets.all(idsOf(some)) : vulnerabilities.all(idsOf(some))
  const [added, removed] = await Promise.all([records(changes.new), records(changes.gone)])
  return {
    added,
    removed,
    changed: changes.changed.map((change) => ({
      ...change,
      ...(kind === 'asset'
        ? { asset_id: change.id, url: textOf(change.after, 'url') }
        : { vuln_id: change.id, vuln_info: textOf(change.after, 'vuln_info') }),
      asset_value: textOf(change.after, 'asset_value'),
      changes: changedFields(change),
    })),
    summary: {
      total_added: changes.total_new,
      total_removed: changes.total_gone,
      total_changed: changes.total_changed,
    },
  }
}
