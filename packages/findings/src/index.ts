export { assetOf, findingOf } from './content.ts'
export { EXPORT_FORMATS, IMPORT_FORMATS, type ExportFormat, type ImportFormat } from './formats.ts'
export { readFindings, type Batch } from './import/read-findings.ts'
export { EXPORT_KINDS, writeFindings } from './export/write-findings.ts'
