import type { Enrichment } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../tables.ts'
import { storable } from '../text.ts'
import { allRows, firstValue } from '../rows.ts'

const ROWS_AT_ONCE = 10_000

/** A file about CVEs. */
export type CveFile = {
  /** Of the model or the catalog. */
  readonly version: string
  readonly published: string
} & (
  | {
      readonly kind: 'epss'
      readonly rows: readonly { readonly cve: string; readonly score: number; readonly percentile: number }[]
    }
  | {
      readonly kind: 'kev'
      readonly rows: readonly { readonly cve: string; readonly added: string; readonly due: string | null }[]
    }
)

/** `upkeep`: the same database with a longer statement timeout. */
export const makeEnrichment = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => {
  const list = (): Promise<Enrichment[]> => allRows(db)<Enrichment>`
      select kind, version, published, cves, loaded_at, loaded_by from enrichments order by kind`
  return {
    list,
    /** Replaces the file of its kind; resolves to how many findings changed. Of a CVE that occurs twice the first row counts. */
    load: (file: CveFile, by: string): Promise<number> =>
      upkeep.transaction().execute(async (tx) => {
        await sql`lock table enrichments in share row exclusive mode`.execute(tx)
        await sql`delete from ${sql.table(TABLES[file.kind])}`.execute(tx)
        for (const insert of insertsOf(file)) await insert.execute(tx)
        await sql`
          insert into enrichments as e (kind, version, published, cves, loaded_by)
          select ${file.kind}, ${storable(file.version)}, ${storable(file.published)}, count(*), ${storable(by)}
          from ${sql.table(TABLES[file.kind])}
          on conflict (kind) do update
          set version = excluded.version, published = excluded.published, cves = excluded.cves, loaded_at = now(),
            loaded_by = excluded.loaded_by`.execute(tx)
        return await firstValue(tx, 0)`select enrich_findings() as changed`
      }),
  }
}

const TABLES = { epss: 'cve_scores', kev: 'exploited_cves' } as const

function* insertsOf(file: CveFile): Generator<RawBuilder<unknown>> {
  for (let at = 0; at < file.rows.length; at += ROWS_AT_ONCE)
    if (file.kind === 'epss') {
      const rows = file.rows.slice(at, at + ROWS_AT_ONCE)
      yield sql`
        insert into cve_scores (cve, score, percentile)
        select * from unnest(${rows.map(({ cve }) => cve)}::text[], ${rows.map(({ score }) => score)}::float8[],
                             ${rows.map(({ percentile }) => percentile)}::float8[])
        on conflict do nothing`
    } else {
      const rows = file.rows.slice(at, at + ROWS_AT_ONCE)
      yield sql`
        insert into exploited_cves (cve, added, due)
        select * from unnest(${rows.map(({ cve }) => cve)}::text[], ${rows.map(({ added }) => added)}::date[],
                             ${rows.map(({ due }) => due)}::date[])
        on conflict do nothing`
    }
}
