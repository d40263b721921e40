export const IMPORT_FORMATS = ['sarif', 'nuclei', 'nmap', 'jsonl'] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

export const EXPORT_FORMATS = ['sarif', 'csv', 'jsonl', 'defectdojo'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
