import { addImports, NOTHING_IMPORTED, type AssetContent, type ImportSummary } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { byteas, halvesOf, itemsOf } from '../findings/import-item.ts'
import type { Lanes } from '../findings/lanes.ts'
import type { Tables } from '../tables.ts'
import { storable } from '../text.ts'

/** Saves assets in two transactions, each with its events. */
export const importAssets = async (
  db: Kysely<Tables>,
  workspace: string,
  source: string,
  items: readonly AssetContent[],
  lanes: Lanes,
): Promise<ImportSummary> => {
  const counts = await lanes.save(halvesOf(items), (half) => importHalf(db, workspace, source, half))
  return counts.reduce(addImports, NOTHING_IMPORTED)
}

const importHalf = async (
  db: Kysely<Tables>,
  workspace: string,
  source: string,
  items: readonly AssetContent[],
): Promise<ImportSummary> => {
  if (items.length === 0) return NOTHING_IMPORTED
  const { contents, json } = itemsOf(workspace, source, { kind: 'asset', items })
  const known = await sql<{ counts: ImportSummary | null }>`
    select see_known_assets(${byteas(contents)}::bytea[]) as counts
  `.execute(db)
  if (known.rows[0]?.counts) return known.rows[0].counts
  const { rows } = await sql<{ counts: ImportSummary }>`
    select import_assets(${storable(workspace)}, ${json()}::jsonb, ${source}, null, null) as counts
  `.execute(db)
  if (rows[0] === undefined) throw new Error('no answer from import_assets')
  return rows[0].counts
}
