import { stringify } from 'csv-stringify/sync'
import type { Vulnerability } from '@scanfarm/contracts'

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
] as const satisfies readonly (keyof Vulnerability)[]

const cell = (value: Vulnerability[(typeof COLUMNS)[number]]): string =>
  value === null ? '' : Array.isArray(value) ? value.join(' ') : String(value)

/** Quotes values that a spreadsheet would execute as formulas. */
const OPTIONS = { escape_formulas: true } as const

/** CSV of RFC 4180 with a header line. */
export async function* csvOf(pages: AsyncIterable<readonly Vulnerability[]>): AsyncGenerator<string> {
  yield stringify([[...COLUMNS]], OPTIONS)
  for await (const page of pages)
    yield stringify(
      page.map((finding) => COLUMNS.map((column) => cell(finding[column]))),
      OPTIONS,
    )
}
