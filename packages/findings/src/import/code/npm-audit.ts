import { asList, asText, asTexts, at, isRecord, isThere, pick } from '../../fields.ts'
import { dependencyFinding } from './dependencies.ts'
import { jsonReport, notOfFormat, type Value } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { failed, unusable } from '../records.ts'

const PATTERNS = [
  'auditReportVersion',
  'vulnerabilities',
  'advisories',
  'error',
  'message',
  'vulnerabilities.*',
  'type',
  'data',
  'data.advisory',
  'value',
  'children',
  'advisories.*',
  '',
  '*',
  '*.[]',
] as const

/**
 * Reads `npm audit --json`: packages with advisories (npm 7 and newer; bun only has lists of advisories by package), or
 * advisories (npm 6 and pnpm; yarn writes each on a line).
 */
export async function* npmAuditFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let [type, name, isDone] = ['', '', false]
  // bun writes `{}` if it found nothing.
  let [isEmpty, isReport] = [true, false]
  for await (const part of jsonReport(body, ({ value }) => isRecord(value), ...PATTERNS)) {
    isEmpty &&= part.kind === 'value' && part.at === ''
    isReport ||= part.kind === 'value' && isSign(part)
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'type') {
      type = asText(part.value)
      isDone ||= type === 'auditSummary'
    } else if (part.at === 'value') name = asText(part.value)
    else if (part.at === 'data') {
      if (type !== 'error') continue
      isDone = true
      yield failed(asText(part.value))
    } else if (part.at === 'children') yield* packageRecords(yarnPackage(name, part.value))
    else if (part.at === 'message') yield failed(asText(part.value))
    else if (part.at === 'error') {
      const named = isRecord(part.value) ? part.value : { message: part.value }
      const reason = pick(named, 'summary', 'detail', 'message', 'code')
      if (isThere(reason)) yield failed(asText(reason))
    } else if (part.at === 'advisories.*' || part.at === 'data.advisory') yield* advisoryRecords(part.value)
    else if (part.at === 'vulnerabilities.*') yield* packageRecords(part.value)
    else if (part.at === '*.[]' && isOfBun(part.value))
      yield* packageRecords({ name: part.path[0], via: bunAdvisory(part.value) })
  }
  if (!isReport && !isEmpty) throw notOfFormat()
  // yarn 1 writes errors to the terminal, and the summary only if it could ask about the packages.
  if (type !== '' && !isDone) yield failed('yarn wrote no summary of an audit')
}

const ghsaOf = (url: string): string => /GHSA(-[a-z0-9]{4}){3}/i.exec(url)?.[0] ?? ''

const isSign = ({ at: place, value }: Value): boolean =>
  place === '*.[]' ? isOfBun(value) : place !== '' && place !== '*'

const isOfBun = (one: unknown): boolean => at(one, 'vulnerable_versions') !== undefined

const bunAdvisory = (one: unknown): unknown =>
  isRecord(one) ? { ...one, source: one['id'], range: one['vulnerable_versions'] } : one

/** A line of yarn 4 as npm writes it. Packages whose authors advise against them have the id `left (deprecation)`. */
const yarnPackage = (name: string, one: unknown): unknown => ({
  via: {
    name,
    source: /\(([^()]*)\)$/.exec(asText(at(one, 'ID')))?.[1] ?? asText(at(one, 'ID')),
    url: at(one, 'URL'),
    title: at(one, 'Issue'),
    severity: at(one, 'Severity'),
    range: at(one, 'Vulnerable Versions'),
    version: asTexts(at(one, 'Tree Versions'))[0],
  },
})

/** An entry that is only a name is a package that depends on a vulnerable one, which has its own record. */
function* packageRecords(one: unknown): Generator<Imported> {
  const name = asText(at(one, 'name'))
  const fix = at(one, 'fixAvailable')
  for (const via of asList(at(one, 'via')).filter(isRecord))
    yield dependencyFinding({
      tool: 'npm-audit',
      id: ghsaOf(asText(via['url'])) || `npm-${asText(via['source'])}`,
      aliases: [],
      file: '',
      name: asText(via['name']) || name,
      version: asText(via['version']),
      registry: 'npm',
      fixed: isRecord(fix) ? [`${asText(fix['name'])} ${asText(fix['version'])}`] : [],
      severity: asText(via['severity']) || asText(at(one, 'severity')),
      title: asText(via['title']),
      text: `${asText(via['title'])}\n\nVulnerable versions: ${asText(via['range'])}\n\nInstalled at: ${asTexts(at(one, 'nodes')).join(', ')}`,
      cwes: asTexts(via['cwe']),
      references: [asText(via['url'])],
      raw: via,
    })
}

function* advisoryRecords(one: unknown): Generator<Imported> {
  const versions = asList(at(one, 'findings')).map((found) => asText(at(found, 'version')))
  const cves = asTexts(at(one, 'cves'))
  for (const version of versions.length === 0 ? [''] : new Set(versions))
    yield dependencyFinding({
      tool: 'npm-audit',
      id:
        asText(at(one, 'github_advisory_id')) ||
        ghsaOf(asText(at(one, 'url'))) ||
        cves[0] ||
        `npm-${asText(at(one, 'id'))}`,
      aliases: cves,
      file: '',
      name: asText(at(one, 'module_name')),
      version,
      registry: 'npm',
      // `<0.0.0`: there is none.
      fixed: asTexts(at(one, 'patched_versions')).filter((versions) => versions !== '<0.0.0'),
      severity: asText(at(one, 'severity')),
      title: asText(at(one, 'title')),
      text: [asText(at(one, 'overview')), asText(at(one, 'recommendation'))].join('\n\n'),
      cwes: asTexts(at(one, 'cwe')),
      references: [asText(at(one, 'url'))],
      raw: one,
    })
}
