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
  'dirsearch',
  'gobuster',
  'zmap',
  'sslyze',
  'gitleaks',
  'gosec',
  'pip-audit',
  'npm-audit',
  'osv-scanner',
  'trivy',
  'grype',
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
  'dirsearch',
  'gobuster',
  'sslyze',
])

export const EXPORT_FORMATS = ['sarif', 'csv', 'jsonl', 'defectdojo', 'openvex'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
