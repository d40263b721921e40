import { asList, asText, asTexts, at, isRecord } from '../fields.ts'
import { dependencyFinding } from './dependencies.ts'
import { Fingerprints, textWord } from './fingerprints.ts'
import { isList, jsonReport } from './json-report.ts'
import type { Imported } from './read-body.ts'
import { finding, paragraphs, unusable } from './records.ts'

const PARTS = ['Target', 'Vulnerabilities.[]', 'Misconfigurations.[]', 'Secrets.[]'] as const
/** Versions before 0.20 wrote a list of targets. */
const PATTERNS = ['Results.[].', '[].'].flatMap((target) => PARTS.map((part) => `${target}${part}`))

/** Reads JSON of trivy: packages with vulnerabilities, misconfigurations and secrets of each target. */
export async function* trivyFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const fingerprints = new Fingerprints()
  let artifact = ''
  let target = ''
  for await (const part of jsonReport(body, isList, '', 'ArtifactName', ...PATTERNS)) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === 'ArtifactName') artifact = asText(part.value)
    else if (part.at.endsWith('.Target')) target = asText(part.value) || artifact
    else if (part.at.includes('.Vulnerabilities.')) yield packageRecord(part.value, target)
    else if (part.at.includes('.Secrets.')) {
      const { value } = part
      const fingerprint = fingerprints.of({
        check: asText(at(value, 'RuleID')),
        file: target,
        lasting: [textWord(asText(at(value, 'Match')))],
        line: asText(at(value, 'StartLine')),
        column: '',
        rest: '',
      })
      yield secretRecord(value, target, fingerprint)
    } else if (part.at.includes('.Misconfigurations.') && isFailure(part.value)) {
      const { value } = part
      const fingerprint = fingerprints.of({
        check: checkOf(value),
        file: target,
        lasting: causeOf(value),
        line: lineOf(value),
        column: '',
        rest: asText(at(value, 'Message')),
      })
      yield misconfigurationRecord(value, target, fingerprint)
    }
  }
}

const packageRecord = (one: unknown, target: string): Imported =>
  dependencyFinding({
    tool: 'trivy',
    id: asText(at(one, 'VulnerabilityID')),
    aliases: asTexts(at(one, 'VendorIDs')),
    file: asText(at(one, 'PkgPath')) || target,
    name: asText(at(one, 'PkgName')),
    version: asText(at(one, 'InstalledVersion')),
    fixed: asTexts(at(one, 'FixedVersion')),
    severity: asText(at(one, 'Severity')),
    title: asText(at(one, 'Title')),
    text: asText(at(one, 'Description')),
    cwes: asTexts(at(one, 'CweIDs')),
    references: [asText(at(one, 'PrimaryURL')), ...asTexts(at(one, 'References'))].filter(
      (url) => url !== '',
    ),
    raw: one,
  })

/** With `--include-non-failures` the report also lists what is in order. */
const isFailure = (one: unknown): boolean => (asText(at(one, 'Status')) || 'FAIL') === 'FAIL'

const placeOf = (target: string, line: string): string =>
  line === '' || line === '0' ? target : `${target}:${line}`

/** `DS-0002`, which older versions write as AVDID, with `AVD-` in front. */
const checkOf = (one: unknown): string =>
  asText(at(one, 'AVDID')).replace(/^AVD-/, '') || asText(at(one, 'ID'))

const lineOf = (one: unknown): string => {
  const line = asText(at(one, 'CauseMetadata', 'StartLine'))
  return line === '0' ? '' : line
}

/** The resource, and the text of the first line that is the cause. */
const causeOf = (one: unknown): string[] => {
  const lines = asList(at(one, 'CauseMetadata', 'Code', 'Lines'))
  const text = asText(
    at(
      lines.find((line) => at(line, 'IsCause') === true),
      'Content',
    ),
  )
  return [
    asText(at(one, 'CauseMetadata', 'Resource')),
    text.trim() === '' ? '' : `text ${textWord(text)}`,
  ].filter((word) => word !== '')
}

const misconfigurationRecord = (one: unknown, target: string, fingerprint: string): Imported =>
  finding({
    vuln_info: checkOf(one),
    vuln_title: asText(at(one, 'Title')),
    vuln_desc: paragraphs(
      asText(at(one, 'Message')),
      asText(at(one, 'Description')),
      asText(at(one, 'Resolution')),
      asText(at(one, 'PrimaryURL')),
    ),
    severity: asText(at(one, 'Severity')),
    asset_type: 'file',
    asset_value: placeOf(target, lineOf(one)),
    tags: ['trivy', asText(at(one, 'Type'))],
    fingerprint,
    raw_vuln_json: JSON.stringify(one),
  })

const secretRecord = (one: unknown, target: string, fingerprint: string): Imported =>
  finding({
    vuln_info: asText(at(one, 'RuleID')),
    vuln_title: asText(at(one, 'Title')),
    vuln_desc: paragraphs(asText(at(one, 'Title')), asText(at(one, 'Match'))),
    severity: asText(at(one, 'Severity')),
    asset_type: 'file',
    asset_value: placeOf(target, asText(at(one, 'StartLine'))),
    tags: ['trivy', 'secret', asText(at(one, 'Category'))],
    fingerprint,
    raw_vuln_json: isRecord(one) ? JSON.stringify(one) : '',
  })
