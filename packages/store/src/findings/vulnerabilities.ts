import {
  SEVERITIES,
  type FindingContent,
  type ImportPart,
  type ImportSummary,
  type Severity,
  type Vulnerability,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { groupVulnerabilities, type GroupBy, type Groups, type GroupSort } from './groups.ts'
import { byteas, identitiesOf, itemsOf } from './import-item.ts'
import { importItems } from './import-items.ts'
import { SaveQueues } from './save-queues.ts'
import { storable, storableJson } from '../text.ts'
import type { Totals } from '../totals.ts'
import { makeVulnerabilityList, type VulnerabilityFilter } from './list-vulnerabilities.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

export const makeVulnerabilities = (db: Kysely<Tables>, totals: Totals) => {
  const records = makeVulnerabilityList(db, totals)
  return { ...records, ...changes(db, totals, records) }
}

const changes = (db: Kysely<Tables>, totals: Totals, records: ReturnType<typeof makeVulnerabilityList>) => ({
  /** Findings of one check, or of one host, as one row. */
  groups: (filter: VulnerabilityFilter, by: GroupBy, sort: GroupSort = 'severity'): Promise<Groups> =>
    totals.group(
      `groups ${by} ${sort} ${JSON.stringify(Object.entries(filter).sort())}`,
      () => groupVulnerabilities(db, filter, by, sort),
      ({ counted }) => counted,
    ),
  /** Always creates a new record, and the event `vuln.found` in the same transaction. */
  async create(workspace: string, content: FindingContent): Promise<Vulnerability> {
    const id = await firstValue(db, 0)`
      select create_vulnerability(${storable(workspace)}, ${storableJson(content)}::jsonb) as id
    `
    const created = await records.find(id)
    if (created === undefined) throw new Error('the finding was deleted before it could be read')
    return created
  },
  /** False: it does not exist. */
  remove: (id: number): Promise<boolean> =>
    firstValue(db, false)`select delete_vulnerability(${id}) as removed`,
  /**
   * Saves records under their identity, many in two transactions, each with its events. Concurrent imports are safe.
   * A record without what or where is always new. `source`: the format or another origin. `part`: equal results of
   * different parts of an import become one record. A part may be saved before an earlier one has ended if both have
   * the same `queues`.
   */
  import: (
    workspace: string,
    source: string,
    findings: readonly FindingContent[],
    part?: ImportPart,
    queues = new SaveQueues(),
  ): Promise<ImportSummary> =>
    importItems(db, findings, queues, (items) => {
      const { contents, json } = itemsOf(workspace, source, { kind: 'vulnerability', items })
      const results = items.map(({ occurrences = 1 }) => occurrences)
      const ofPart = sql`${part?.of ?? null}::uuid, ${part?.no ?? null}::int`
      return {
        see: sql`see_known_findings(${byteas(contents)}::bytea[], ${results}::int[], ${ofPart})`,
        save: () =>
          sql`import_vulnerabilities(${storable(workspace)}, ${json()}::jsonb, ${source}, null, null, ${ofPart})`,
      }
    }),
  /** The folder that the files of known findings are relative to, by findings at absolute paths. */
  async knownFolder(workspace: string, findings: readonly FindingContent[]): Promise<string | undefined> {
    return await firstValue<string | undefined>(db, undefined)`
      select known_folder(${storable(workspace)}, ${identitiesOf(findings)}::jsonb) as folder
    `
  },
  async summary(
    filter: Pick<VulnerabilityFilter, 'workspace' | 'state'>,
  ): Promise<Readonly<Record<Severity, number>>> {
    const counts = await Promise.all(
      SEVERITIES.map(async (severity): Promise<[Severity, number]> => [
        severity,
        await records.total({ ...filter, severity: [severity] }),
      ]),
    )
    return Object.fromEntries(counts) as Record<Severity, number>
  },
})
