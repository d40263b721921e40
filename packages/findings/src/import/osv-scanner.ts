import { cvssOf } from '../cvss.ts'
import { asList, asText, asTexts, at } from '../fields.ts'
import { dependencyFinding } from './dependencies.ts'
import { isList, jsonReport } from './json-report.ts'
import type { Imported } from './read-body.ts'
import { pathOf, ScannedFolder } from './paths.ts'
import { unusable } from './records.ts'
import { severityOfScore } from './tool-words.ts'

/** Reads JSON of osv-scanner. The advisories of several databases on one vulnerability are one finding, as in its table. */
export async function* osvScannerFindings(
  body: AsyncIterable<Uint8Array>,
  root = '',
): AsyncGenerator<Imported> {
  const folder = new ScannedFolder()
  const packages: (readonly [found: unknown, file: string])[] = []
  let file = ''
  const patterns = ['results', 'results.[].source', 'results.[].packages.[]'] as const
  for await (const part of jsonReport(body, 'osv-scanner (--format json)', isList, ...patterns)) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'results.[].source') {
      file = pathOf(asText(at(part.value, 'path')))
      folder.add(file)
    } else if (part.at !== 'results') packages.push([part.value, file])
  }
  if (root === '') yield* folder.found()
  for (const [found, path] of packages) yield* packageRecords(found, folder.relative(path, [root]))
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
    yield dependencyFinding({
      tool: 'osv-scanner',
      id: ids[0] ?? '',
      aliases: [
        ...ids.slice(1),
        ...asTexts(at(group, 'aliases')),
        ...found.flatMap((known) => asTexts(at(known, 'aliases'))),
      ],
      file,
      name: asText(at(one, 'package', 'name')),
      version: asText(at(one, 'package', 'version')),
      fixed: [...new Set(found.flatMap(fixesOf))],
      severity:
        severityOfScore(Number(at(group, 'max_severity')) || scoreOf(found)) ??
        (found
          .map((known) => asText(at(known, 'database_specific', 'severity')))
          .find((word) => word !== '') ||
          'medium'),
      title: asText(at(own, 'summary')),
      text: asText(at(own, 'details')),
      cwes: found.flatMap((known) => asTexts(at(known, 'database_specific', 'cwe_ids'))),
      references: asList(at(own, 'references')).map((reference) => asText(at(reference, 'url'))),
      raw: found.length === 1 ? own : found,
    })
  }
}

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
