import { SEVERITIES, type FindingContent, type ImportSummary, type Severity } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Vulnerabilities } from '../store.ts'
import { storable, storableJson } from '../text.ts'
import type { Totals } from '../totals.ts'
import {
  findVulnerability,
  listVulnerabilities,
  pageOfVulnerabilities,
  totalOf,
} from './list-vulnerabilities.ts'

export const makeVulnerabilities = (db: Kysely<unknown>, totals: Totals): Vulnerabilities => ({
  list: (filter, page) => listVulnerabilities(db, totals, filter, page),
  find: (id) => findVulnerability(db, id),
  newestBelow: async (filter, below, limit) =>
    (await pageOfVulnerabilities(db, filter, { below, offset: 0, limit })).rows,
  create: (workspace, content) => create(db, workspace, content),
  remove: (id) => remove(db, id),
  import: (workspace, source, items) => importAll(db, workspace, source, items),
  async summary(filter) {
    const counts = await Promise.all(
      SEVERITIES.map(async (severity): Promise<[Severity, number]> => [
        severity,
        await totalOf(db, totals, { ...filter, severities: [severity] }),
      ]),
    )
    return Object.fromEntries(counts) as Record<Severity, number>
  },
})

const create = async (db: Kysely<unknown>, workspace: string, content: FindingContent) => {
  const { rows } = await sql<{ id: number }>`
    select create_vulnerability(${storable(workspace)}, ${storableJson(content)}::jsonb) as id
  `.execute(db)
  const created = await findVulnerability(db, rows[0]?.id ?? 0)
  if (created === undefined) throw new Error('a finding was removed while it was created')
  return created
}

const remove = async (db: Kysely<unknown>, id: number): Promise<boolean> => {
  const { rows } = await sql<{ removed: boolean }>`select delete_vulnerability(${id}) as removed`.execute(db)
  return rows[0]?.removed === true
}

const importAll = async (
  db: Kysely<unknown>,
  workspace: string,
  source: string,
  items: readonly FindingContent[],
): Promise<ImportSummary> => {
  const { rows } = await sql<{ counts: ImportSummary }>`
    select import_vulnerabilities(${storable(workspace)}, ${storableJson(items)}::jsonb, ${source}, null, null) as counts
  `.execute(db)
  if (rows[0] === undefined) throw new Error('no answer from import_vulnerabilities')
  return rows[0].counts
}
