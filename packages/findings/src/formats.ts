export const IMPORT_FORMATS = [
  'sarif',
  'nuclei',
  'nmap',
  'jsonl',
  'whatweb',
  'sslscan',
  'testssl',
  'wapiti',
  'masscan',
  'ffuf',
] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

/**
 * Formats whose reports name hosts that the scan reached, at least by a record of them. Other formats are silent on
 * hosts that did not answer.
 */
export const NAMES_REACHED: ReadonlySet<ImportFormat> = new Set([
  'nmap',
  'whatweb',
  'sslscan',
  'testssl',
  'wapiti',
  'ffuf',
])

export const EXPORT_FORMATS = ['sarif', 'csv', 'jsonl', 'defectdojo'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
