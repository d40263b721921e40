import { asText, asTexts, at } from '../fields.ts'
import { Fingerprints, textWord } from './fingerprints.ts'
import { isList, jsonReport } from './json-report.ts'
import type { Imported } from './read-body.ts'
import { pathOf, ScannedFolder } from './paths.ts'
import { jsonParts } from './read-json.ts'
import { finding, paragraphs, unusable } from './records.ts'
import { Replay } from './replay.ts'

/** gitleaks names no severity. */
const SEVERITY = 'high'

/** Reads JSON of gitleaks. A secret in several commits is a record for each, because each has to be rewritten. */
export async function* gitleaksFindings(
  body: AsyncIterable<Uint8Array>,
  root = '',
): AsyncGenerator<Imported> {
  await using replay = new Replay()
  const folder = new ScannedFolder()
  // Paths are absolute if the folder was named so.
  for await (const part of jsonParts(replay.first(body), '[]'))
    if (part.kind === 'value') folder.add(pathOf(asText(at(part.value, 'File'))))
  if (root === '') yield* folder.found()
  const fingerprints = new Fingerprints()
  for await (const part of jsonReport(replay.again(), 'gitleaks (-f json)', isList, '', '[]')) {
    if (part.kind === 'problem') {
      yield unusable(part.reason, part.line)
      continue
    }
    if (part.at === '') continue
    const leak = part.value
    const [rule = '', path = '', line = '', commit = ''] = ['RuleID', 'File', 'StartLine', 'Commit'].map(
      (name) => asText(at(leak, name)),
    )
    const file = folder.relative(pathOf(path), [pathOf(root)])
    if (rule === '' || file === '') {
      yield unusable('it is not a leak of gitleaks (-f json): RuleID or File is missing', part.line)
      continue
    }
    const place =
      commit === '' ? '' : `Commit ${commit} of ${asText(at(leak, 'Author'))}, ${asText(at(leak, 'Date'))}`
    yield finding({
      vuln_info: rule,
      vuln_title: asText(at(leak, 'Description')) || rule,
      vuln_desc: paragraphs(asText(at(leak, 'Description')), place, asText(at(leak, 'Link'))),
      severity: SEVERITY,
      asset_type: 'file',
      asset_value: line === '' ? file : `${file}:${line}`,
      tags: ['gitleaks', 'secret', ...asTexts(at(leak, 'Tags'))],
      // A commit never changes; a file does.
      fingerprint: fingerprints.of({
        check: rule,
        file,
        lasting: commit === '' ? [textWord(secretless(leak))] : [commit, `line ${line}`],
        line,
        column: asText(at(leak, 'StartColumn')),
        rest: '',
      }),
      raw_vuln_json: JSON.stringify(leak),
    })
  }
}

/** The text around the secret. */
const secretless = (leak: unknown): string => {
  const secret = asText(at(leak, 'Secret'))
  const match = asText(at(leak, 'Match'))
  return secret === '' ? match : match.replaceAll(secret, '…')
}
