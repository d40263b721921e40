import { asTexts, asText, isRecord, pick } from '../../fields.ts'
import { Fingerprints, textWord } from '../fingerprints.ts'
import { isList, jsonReport } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { pathOf, ScannedFolder } from '../paths.ts'
import { jsonParts } from '../json/read-json.ts'
import { finding, paragraphs, unusable } from '../records.ts'
import { Replay } from '../replay.ts'

/** gitleaks names no severity, in none of its forms. */
export const LEAK_SEVERITY = 'high'

/** A field by its names in version 8 and 7. */
const field = (leak: unknown, ...names: string[]): unknown =>
  isRecord(leak) ? pick(leak, ...names) : undefined
const text = (leak: unknown, ...names: string[]): string => asText(field(leak, ...names))
const fileOf = (leak: unknown): string => pathOf(text(leak, 'File', 'file'))

/** Version 7 writes zeros for files that are in no commit. */
const commitOf = (leak: unknown): string => text(leak, 'Commit', 'commit').replace(/^0+$/, '')

/** Reads JSON of gitleaks. A secret in several commits is a record for each, because each has to be rewritten. */
export async function* gitleaksFindings(
  body: AsyncIterable<Uint8Array>,
  root = '',
): AsyncGenerator<Imported> {
  await using replay = new Replay()
  const folder = new ScannedFolder()
  // Paths are absolute if the folder was named so.
  for await (const part of jsonParts(replay.first(body), '[]'))
    if (part.kind === 'value') folder.add(fileOf(part.value))
  if (root === '') yield* folder.found()
  const fingerprints = new Fingerprints()
  for await (const part of jsonReport(replay.again(), isList, '', '[]')) {
    if (part.kind === 'problem') {
      yield unusable(part.reason, part.line)
      continue
    }
    if (part.at === '') continue
    const leak = part.value
    const [rule, line] = [text(leak, 'RuleID', 'rule'), text(leak, 'StartLine', 'lineNumber')]
    const commit = commitOf(leak)
    const file = folder.relative(fileOf(leak), [pathOf(root)])
    if (rule === '' || file === '') {
      yield unusable('it is not a leak of gitleaks (-f json): RuleID or File is missing', part.line)
      continue
    }
    const place =
      commit === ''
        ? ''
        : `Commit ${commit} of ${text(leak, 'Author', 'author')}, ${text(leak, 'Date', 'date')}`
    yield finding({
      vuln_info: rule,
      vuln_title: text(leak, 'Description') || rule,
      vuln_desc: paragraphs(text(leak, 'Description'), place, text(leak, 'Link', 'leakURL')),
      severity: LEAK_SEVERITY,
      asset_type: 'file',
      asset_value: line === '' ? file : `${file}:${line}`,
      tags: [
        'gitleaks',
        'secret',
        ...asTexts(field(leak, 'Tags', 'tags')).flatMap((tags) => tags.split(',').map((tag) => tag.trim())),
      ],
      // A commit never changes; a file does.
      fingerprint: fingerprints.of({
        check: rule,
        file,
        lasting: [commit === '' ? `text ${textWord(secretOf(leak))}` : `${commit} line ${line}`],
        line,
        column: text(leak, 'StartColumn'),
        rest: '',
      }),
      raw_vuln_json: JSON.stringify(leak),
    })
  }
}

/** The secret, which is all that SARIF says of it, or else the text that contains it. */
const secretOf = (leak: unknown): string => text(leak, 'Secret', 'offender') || text(leak, 'Match', 'line')
