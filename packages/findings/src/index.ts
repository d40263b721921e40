export { cvssOf } from './cvss.ts'
export { MAX_ENRICHMENT_BYTES, readEnrichment, type Enrichment } from './enrichment.ts'
export { assetOf, findingOf } from './content.ts'
export {
  EXPORT_FORMATS,
  formOf,
  IMPORT_FORMATS,
  NAMES_REACHED,
  NEVER_EMPTY,
  type ExportFormat,
  type ImportFormat,
} from './formats.ts'
export type { Batch } from './import/batches.ts'
export { multirangeOf, SILENT_HOST, SILENT_PORT } from './import/network/nmap-answers.ts'
export { nmapReport, type NmapHost, type NmapPort } from './import/network/nmap-report.ts'
export { nucleiMiss } from './import/web/nuclei-row.ts'
export { openReport, readFindings } from './import/read-findings.ts'
export { sarifReport } from './import/sarif/sarif-report.ts'
export { EXPORT_KINDS, writeFindings } from './export/write-findings.ts'
export { factsOf, recordOf } from './export/facts.ts'
export { reportPage, reportPolicy } from './export/report-page.ts'
