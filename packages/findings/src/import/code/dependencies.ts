import { isRecord } from '../../fields.ts'
import type { Imported } from '../read-body.ts'
import { finding, paragraphs } from '../records.ts'

/** A known vulnerability of a package that a project or image uses. */
interface Dependency {
  readonly tool: string
  readonly id: string
  /** Other names of the vulnerability. */
  readonly aliases: readonly string[]
  /** The file or part of an image that names the package, or `""`. */
  readonly file: string
  readonly name: string
  readonly version: string
  /** Where it is from, if the tool names no purl. */
  readonly registry?: 'npm' | 'pypi' | undefined
  readonly fixed: readonly string[]
  /** A `Severity`, or the word of the tool. */
  readonly severity: string
  readonly confidence?: string
  readonly title: string
  readonly text: string
  readonly cwes?: readonly string[]
  readonly references?: readonly string[]
  /** What distinguishes results for one package. */
  readonly fingerprint?: string
  readonly raw: unknown
}

export const isCve = (id: string): boolean => /^CVE-\d{4}-\d+$/.test(id)

/** `name@version`, behind the file that names it. */
export const packageLocation = (file: string, name: string, version: string): string =>
  `${file === '' ? '' : `${file}:`}${name}${version === '' ? '' : `@${version}`}`

/** Undefined without a version: it would be that of all versions. */
const purlOf = ({ registry, name, version }: Dependency): string | undefined => {
  if (registry === undefined || version === '') return undefined
  const path = registry === 'pypi' ? name.toLowerCase().replaceAll('_', '-') : name
  return `pkg:${registry}/${encodeURIComponent(path).replace('%2F', '/')}@${encodeURIComponent(version)}`
}

export const dependencyFinding = (one: Dependency): Imported => {
  const ids = [...new Set([one.id, ...one.aliases])].filter((id) => id !== '')
  const fix = one.fixed.length === 0 ? 'No fixed version is named.' : `Fixed in: ${one.fixed.join(', ')}`
  const purl = purlOf(one)
  const names = ids.length > 1 ? `Also known as: ${ids.slice(1).join(', ')}` : ''
  return finding({
    vuln_info: one.id,
    vuln_title: `${one.name}: ${one.title || one.id}`.slice(0, 200),
    vuln_desc: paragraphs(one.text || one.title, fix, names, (one.references ?? []).slice(0, 20).join('\n')),
    severity: one.severity,
    confidence: one.confidence ?? '',
    asset_type: 'package',
    asset_value: packageLocation(one.file, one.name, one.version),
    tags: [one.tool, ...ids.filter(isCve), ...(one.cwes ?? [])],
    fingerprint: one.fingerprint ?? '',
    raw_vuln_json: JSON.stringify(purl !== undefined && isRecord(one.raw) ? { ...one.raw, purl } : one.raw),
  })
}
