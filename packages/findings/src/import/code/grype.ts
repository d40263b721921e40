import { asList, asText, asTexts, at, isRecord } from '../../fields.ts'
import { dependencyFinding } from './dependencies.ts'
import { isList, jsonReport } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { inArtifact, pathOf } from '../paths.ts'
import { jsonParts } from '../json/read-json.ts'
import { unusable } from '../records.ts'
import { Replay } from '../replay.ts'
import { severityOfScore } from '../tool-words.ts'

/** Reads JSON of grype. Ignored matches are not read. */
export async function* grypeFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  await using replay = new Replay()
  // The source follows the matches.
  let source: unknown
  for await (const part of jsonParts(replay.first(body), 'source'))
    if (part.kind === 'value') source = part.value
  for await (const part of jsonReport(replay.again(), isList, 'matches', 'matches.[]')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at !== 'matches') yield matchRecord(part.value, source)
  }
}

/** Files of a folder are named by their path in it, with a slash in front; those of an image or archive by its name. */
export const grypeFile = (artifact: string, path: string): string =>
  artifact === '' ? path.replace(/^\//, '') : inArtifact(artifact, path)

const artifactOf = (source: unknown): string => {
  const target = at(source, 'target')
  const isNone = /^(?:directory|purl|cpe|unknown|)$/.test(asText(at(source, 'type')))
  return isNone ? '' : asText(isRecord(target) ? at(target, 'userInput') : target)
}

const matchRecord = (match: unknown, source: unknown): Imported => {
  const own = at(match, 'vulnerability')
  const related = asList(at(match, 'relatedVulnerabilities'))
  const artifact = at(match, 'artifact')
  const path = pathOf(asText(at(asList(at(artifact, 'locations'))[0], 'path')))
  const text = [own, ...related].map((one) => asText(at(one, 'description'))).find((one) => one !== '') ?? ''
  return dependencyFinding({
    tool: 'grype',
    id: asText(at(own, 'id')),
    aliases: related.map((one) => asText(at(one, 'id'))),
    file: grypeFile(artifactOf(source), path),
    name: asText(at(artifact, 'name')),
    version: asText(at(artifact, 'version')),
    fixed: asTexts(at(own, 'fix', 'versions')),
    severity: severityWord(own) || scoreOf([own, ...related]) || 'info',
    title: text.split('\n')[0] ?? '',
    text,
    cwes: asList(at(own, 'cwes')).map((one) => asText(at(one, 'cwe'))),
    references: [asText(at(own, 'dataSource')), ...asTexts(at(own, 'urls'))].filter((url) => url !== ''),
    raw: match,
  })
}

const severityWord = (own: unknown): string => {
  const word = asText(at(own, 'severity')).toLowerCase()
  return word === 'unknown' ? '' : word === 'negligible' ? 'info' : word
}

const scoreOf = (vulnerabilities: readonly unknown[]): string | undefined =>
  severityOfScore(
    Math.max(
      0,
      ...vulnerabilities
        .flatMap((one) => asList(at(one, 'cvss')))
        .map((cvss) => Number(at(cvss, 'metrics', 'baseScore')) || 0),
    ),
  )
