import { cvssOf } from '../../cvss.ts'
import { asList, asText, asTexts, at, isRecord } from '../../fields.ts'
import { dependencyFinding } from './dependencies.ts'
import { isList, jsonReport } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { pathOf, ScannedFolder } from '../paths.ts'
import { paragraphs, unusable } from '../records.ts'
import { severityOfScore } from '../tool-words.ts'

/** Ecosystems of OSV whose packages have a simple purl. */
const REGISTRIES: ReadonlyMap<string, 'npm' | 'pypi'> = new Map([
  ['npm', 'npm'],
  ['PyPI', 'pypi'],
])

/** Reads JSON of osv-scanner. The advisories of several databases on one vulnerability are one finding, as in its table. */
export async function* osvScannerFindings(
  body: AsyncIterable<Uint8Array>,
  root = '',
): AsyncGenerator<Imported> {
  const folder = new ScannedFolder()
  const packages: (readonly [found: unknown, result: string])[] = []
  // By the result, whose source may follow its packages.
  const files = new Map<string, string>()
  let report = 0
  let isImage = false
  const patterns = ['', 'results', 'results.[].source', 'results.[].packages.[]', 'image_metadata'] as const
  for await (const part of jsonReport(body, isList, ...patterns)) {
    if (part.kind === 'problem') {
      yield unusable(part.reason, part.line)
      continue
    }
    const result = `${report} ${part.path[1] ?? ''}`
    if (part.at === '') report += 1
    else if (part.at === 'results.[].source') {
      const file = pathOf(asText(at(part.value, 'path')))
      files.set(result, file)
      folder.add(file)
    } else if (part.at === 'image_metadata') isImage = true
    else if (part.at !== 'results') packages.push([part.value, result])
  }
  // Paths in an image are in no checkout.
  if (root === '' && !isImage) yield* folder.found()
  for (const [found, result] of packages) {
    const path = files.get(result) ?? ''
    yield* packageRecords(found, isImage ? path : folder.relative(path, [root]))
  }
}

/** Its SARIF begins with the CVE, its JSON with the advisory: the first name that is no CVE is one name for both. */
export const advisoryOf = (names: readonly string[]): string =>
  names.find((name) => !name.startsWith('CVE-')) ?? names[0] ?? ''

/** osv-scanner itself does not fail for these, and lists them apart. */
const uncalled = (severity: string): string =>
  `The analysis of osv-scanner found no use of the vulnerable code. Otherwise the severity is ${severity}.`

/** Also true without an analysis. Version 1 writes it as `experimentalAnalysis`. */
const isCalled = (group: unknown): boolean => {
  const analysis = at(group, 'experimental_analysis') ?? at(group, 'experimentalAnalysis')
  const ones = isRecord(analysis) ? Object.values(analysis) : []
  const isUnimportant = ones.some((one) => at(one, 'unimportant') === true)
  return ones.length === 0 || (!isUnimportant && ones.some((one) => at(one, 'called') === true))
}

function* packageRecords(one: unknown, file: string): Generator<Imported> {
  const vulnerabilities = asList(at(one, 'vulnerabilities'))
  const byId = new Map(vulnerabilities.map((found) => [asText(at(found, 'id')), found]))
  const named = asList(at(one, 'groups'))
  const groups = named.length > 0 ? named : [...byId.keys()].map((id) => ({ ids: [id] }))
  for (const group of groups) {
    const ids = asTexts(at(group, 'ids'))
    const found = ids.map((id) => byId.get(id)).filter((known) => known !== undefined)
    const own = found.find((known) => asText(at(known, 'summary')) !== '') ?? found[0]
    const names = [
      ids,
      asTexts(at(group, 'aliases')),
      ...found.map((known) => asTexts(at(known, 'aliases'))),
    ].flat()
    const severity = severityIn(group, found)
    const isUsed = isCalled(group)
    yield dependencyFinding({
      tool: 'osv-scanner',
      id: advisoryOf(names),
      aliases: names,
      file,
      // A folder with sources of others is known by its commit.
      name: asText(at(one, 'package', 'name')) || (file.split('/').at(-1) ?? ''),
      version: asText(at(one, 'package', 'version')) || asText(at(one, 'package', 'commit')),
      registry: REGISTRIES.get(asText(at(one, 'package', 'ecosystem'))),
      fixed: [...new Set(found.flatMap(fixesOf))],
      severity: isUsed ? severity : 'info',
      title: asText(at(own, 'summary')),
      text: paragraphs(asText(at(own, 'details') ?? at(own, 'summary')), isUsed ? '' : uncalled(severity)),
      confidence: isUsed ? '' : 'Tentative',
      cwes: found.flatMap((known) => asTexts(at(known, 'database_specific', 'cwe_ids'))),
      references: asList(at(own, 'references')).map((reference) => asText(at(reference, 'url'))),
      // Exports read the fields of one record.
      raw: found.length === 1 ? own : { ...(own as object), others: found.filter((known) => known !== own) },
    })
  }
}

const severityIn = (group: unknown, found: readonly unknown[]): string =>
  severityOfScore(Number(at(group, 'max_severity')) || scoreOf(found)) ??
  (found.map((known) => asText(at(known, 'database_specific', 'severity'))).find((word) => word !== '') ||
    'medium')

/** Older versions write no score of a group. */
const scoreOf = (found: readonly unknown[]): number =>
  Math.max(0, ...found.map((known) => cvssOf(at(known, 'severity'))?.score ?? 0))

const fixesOf = (found: unknown): string[] =>
  asList(at(found, 'affected'))
    .flatMap((affected) => asList(at(affected, 'ranges')))
    .filter((range) => asText(at(range, 'type')) !== 'GIT')
    .flatMap((range) => asList(at(range, 'events')))
    .map((event) => asText(at(event, 'fixed')))
    .filter((version) => version !== '')
