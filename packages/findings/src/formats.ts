/** The formats of imports, and the form of each that is read: mostly an option of the tool. */
const FORMS = {
  sarif: '2.1.0',
  nuclei: '-jsonl',
  nmap: '-oX',
  jsonl: 'lines of Scanfarm',
  whatweb: '--log-json',
  sslscan: '--xml',
  testssl: '--jsonfile, --jsonfile-pretty',
  wapiti: '-f json',
  masscan: '-oJ, -oD, -oX, -oL, -oG',
  ffuf: '-of json',
  dirsearch: '-O json',
  gobuster: 'text',
  zmap: '-O json',
  sslyze: '--json_out',
  gitleaks: '-f json',
  gosec: '-fmt json',
  'pip-audit': '-f json',
  'npm-audit': '--json',
  'osv-scanner': '--format json',
  trivy: '-f json',
  grype: '-o json',
} as const
export type ImportFormat = keyof typeof FORMS
export const IMPORT_FORMATS = Object.keys(FORMS) as ImportFormat[]

/** `nmap (-oX)` */
export const formOf = (format: ImportFormat): string => `${format} (${FORMS[format]})`

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

/** Formats of tools that write a report also when they find nothing: an empty file is one that failed. */
export const NEVER_EMPTY: ReadonlySet<ImportFormat> = new Set([
  'sarif',
  'gitleaks',
  'gosec',
  'pip-audit',
  'osv-scanner',
  'trivy',
  'grype',
])

export const EXPORT_FORMATS = ['sarif', 'csv', 'jsonl', 'defectdojo', 'openvex'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
