import type { Vulnerability } from '@scanfarm/contracts'
import type { ExportFormat } from '../formats.ts'
import { csvOf } from './csv.ts'
import { defectDojoOf } from './defect-dojo.ts'
import { openVexOf } from './openvex.ts'
import { sarifOf } from './sarif.ts'

export interface ExportKind {
  readonly contentType: string
  readonly extension: string
}

export const EXPORT_KINDS: Readonly<Record<ExportFormat, ExportKind>> = {
  sarif: { contentType: 'application/sarif+json', extension: 'sarif' },
  csv: { contentType: 'text/csv; charset=utf-8', extension: 'csv' },
  jsonl: { contentType: 'application/x-ndjson', extension: 'jsonl' },
  defectdojo: { contentType: 'application/json', extension: 'json' },
  openvex: { contentType: 'application/json', extension: 'openvex.json' },
}

type Pages = AsyncIterable<readonly Vulnerability[]>

async function* jsonlOf(pages: Pages): AsyncGenerator<string> {
  for await (const page of pages) for (const finding of page) yield `${JSON.stringify(finding)}\n`
}

const WRITERS: Readonly<Record<ExportFormat, (pages: Pages) => AsyncIterable<string>>> = {
  sarif: sarifOf,
  csv: csvOf,
  jsonl: jsonlOf,
  defectdojo: defectDojoOf,
  openvex: openVexOf,
}

/** Yields the text of a file with the findings of all pages. A page is requested when the last is written. */
export const writeFindings = (format: ExportFormat, pages: Pages): AsyncIterable<string> =>
  WRITERS[format](pages)
