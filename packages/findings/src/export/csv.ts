import { stringify } from 'csv-stringify/sync'
import type { Vulnerability } from '@scanfarm/contracts'
import { factsOf, type Facts } from './facts.ts'

const COLUMNS = [
  'id',
  'workspace',
  'severity',
  'confidence',
  'vuln_info',
  'vuln_title',
  'asset_type',
  'asset_value',
  'state',
  'tags',
  'vuln_desc',
  'vuln_poc',
  'first_seen',
  'last_seen',
  'times_seen',
  'gone_at',
  'run_uuid',
  'source',
  'finding_hash',
  'seen',
  'seen_reason',
  'verdict',
  'reason',
  'until',
  'assignee',
  'ticket',
  'scan_severity',
  'cves',
  'epss',
  'epss_percentile',
  'kev',
  'kev_due',
] as const satisfies readonly (keyof Vulnerability)[]

const cell = (value: Vulnerability[(typeof COLUMNS)[number]]): string =>
  value === null ? '' : Array.isArray(value) ? value.join(' ') : String(value)

/** Columns whose values are parts of fields. */
const MORE: Readonly<Record<string, (finding: Vulnerability, facts: Facts) => string>> = {
  priority: ({ priority }) => String(priority.score),
  cvss_score: (_, { cvssScore }) => String(cvssScore ?? ''),
  cvss: (_, { cvss }) => cvss?.vector ?? '',
}

const rowOf = (finding: Vulnerability): string[] => {
  const facts = factsOf(finding)
  return [
    ...COLUMNS.map((column) => cell(finding[column])),
    ...Object.values(MORE).map((value) => value(finding, facts)),
  ]
}

/** Quotes values that a spreadsheet would execute as formulas. */
const OPTIONS = { escape_formulas: true } as const

/** CSV of RFC 4180 with a header line. */
export async function* csvOf(pages: AsyncIterable<readonly Vulnerability[]>): AsyncGenerator<string> {
  yield stringify([[...COLUMNS, ...Object.keys(MORE)]], OPTIONS)
  for await (const page of pages) yield stringify(page.map(rowOf), OPTIONS)
}
