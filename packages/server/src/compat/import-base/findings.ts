import {
  FINDING_LIMITS,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  type AssetContent,
  type Confidence,
  type FindingContent,
  type Severity,
} from '@scanfarm/contracts'
import type { BaseDatabase, BaseRow, BaseTable, History, PastRecord } from '@scanfarm/store'
import { newPart, type PartReport } from './report.ts'
import { workspaceHere } from './runs.ts'
import { batches, countOf, listOf, textOf, timeOf } from './values.ts'

const RECORDS_AT_ONCE = 500
const MAX_ITEMS = 1024
const MAX_ITEM = 4096

const SEVERITIES: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  high: 'high',
  medium: 'medium',
  low: 'low',
  info: 'info',
}
/** Records without a confidence get the default of the API. */
const CONFIDENCES: Readonly<Record<string, Confidence>> = {
  certain: 'Certain',
  firm: 'Firm',
  tentative: 'Tentative',
  'manual review required': 'Manual Review Required',
}

const jsonText = (row: BaseRow, column: string): string => {
  const text = textOf(row, column, FINDING_LIMITS.raw_vuln_json + 1)
  try {
    JSON.parse(text)
    return text.length > FINDING_LIMITS.raw_vuln_json ? '' : text
  } catch {
    return ''
  }
}

type FindingText = keyof typeof FINDING_LIMITS & keyof FindingContent

const findingOf = (row: BaseRow): FindingContent => {
  const text = (column: FindingText): string => textOf(row, column, FINDING_LIMITS[column])
  return {
    vuln_info: text('vuln_info'),
    vuln_title: text('vuln_title'),
    vuln_desc: text('vuln_desc'),
    vuln_poc: text('vuln_poc'),
    severity: SEVERITIES[textOf(row, 'severity').toLowerCase()] ?? 'info',
    confidence: CONFIDENCES[textOf(row, 'confidence').toLowerCase()] ?? 'Certain',
    asset_type: text('asset_type'),
    asset_value: text('asset_value'),
    tags: listOf(row, 'tags', MAX_TAGS, MAX_TAG_LENGTH),
    detail_http_request: text('detail_http_request'),
    detail_http_response: text('detail_http_response'),
    raw_vuln_json: jsonText(row, 'raw_vuln_json'),
  }
}

const assetOf = (row: BaseRow): AssetContent => ({
  asset_type: textOf(row, 'asset_type', FINDING_LIMITS.asset_type),
  asset_value: textOf(row, 'asset_value', FINDING_LIMITS.asset_value),
  url: textOf(row, 'url', FINDING_LIMITS.asset_value),
  host_ip: textOf(row, 'host_ip', 256),
  scheme: textOf(row, 'scheme', 64),
  status_code: countOf(row, 'status_code') % 10_000,
  title: textOf(row, 'title', MAX_ITEM),
  content_type: textOf(row, 'content_type', 256),
  technologies: listOf(row, 'technologies', MAX_ITEMS, MAX_ITEM),
  open_ports: listOf(row, 'open_ports', MAX_ITEMS, MAX_ITEM),
  dns_records: listOf(row, 'dns_records', MAX_ITEMS, MAX_ITEM),
  remarks: listOf(row, 'remarks', MAX_ITEMS, MAX_ITEM),
  raw_json_data: jsonText(row, 'raw_json_data'),
})

const importRecords = async <Content>(
  base: BaseDatabase,
  table: BaseTable,
  contentOf: (row: BaseRow) => Content,
  add: (workspace: string, records: readonly PastRecord<Content>[]) => Promise<number>,
): Promise<PartReport> => {
  const report = newPart(table)
  for await (const batch of batches(base.rows(table, ['workspace', 'id']), RECORDS_AT_ONCE)) {
    report.found += batch.length
    const byWorkspace = Map.groupBy(batch, workspaceHere)
    for (const [workspace, rows] of byWorkspace) {
      const records = rows.map((row) => {
        const firstSeen = timeOf(row, 'created_at') ?? new Date().toISOString()
        return {
          content: contentOf(row),
          firstSeen,
          lastSeen: timeOf(row, 'last_seen_at') ?? timeOf(row, 'updated_at') ?? firstSeen,
        }
      })
      const added = await add(workspace, records)
      report.added += added
      report.known += rows.length - added
    }
  }
  return report
}

export const importFindings = async (
  base: BaseDatabase,
  history: History,
  dryRun: boolean,
): Promise<PartReport[]> => [
  await importRecords(base, 'assets', assetOf, (workspace, records) =>
    dryRun ? Promise.resolve(records.length) : history.addAssets(workspace, records),
  ),
  await importRecords(base, 'vulnerabilities', findingOf, (workspace, records) =>
    dryRun ? Promise.resolve(records.length) : history.addVulnerabilities(workspace, records),
  ),
]
