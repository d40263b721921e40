import type { Cvss, Severity, Vulnerability } from '@scanfarm/contracts'
import { cvssOf } from '../cvss.ts'
import { asText, asTexts, at, isRecord, pick, type Unknown } from '../fields.ts'

/** What other tools have fields for, from the record of the scanner and the tags. */
export interface Facts {
  readonly cves: readonly string[]
  /** Numbers of CWEs. */
  readonly cwes: readonly number[]
  /** That of the scanner, or else of the vector. */
  readonly cvssScore: number | undefined
  readonly cvss: Cvss | undefined
  readonly references: readonly string[]
  readonly remediation: string
}

const MOST = 50
const MAX_TEXT = 16 * 1024

/** The record of the scanner; empty if it is none. */
export const recordOf = (text: string): Unknown => {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** Names of the fields in records of nuclei and other scanners. */
const NAMES = {
  cve: ['info.classification.cve-id', 'cve-id', 'cve'],
  cwe: ['info.classification.cwe-id', 'cwe-id', 'cwe'],
  score: ['info.classification.cvss-score', 'cvss-score', 'cvss_score'],
  references: ['info.reference', 'references', 'reference', 'References', 'vulnerability.urls'],
  remediation: ['info.remediation', 'remediation', 'solution'],
} as const

const isWeb = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const matches = (texts: readonly string[], pattern: RegExp): string[] =>
  texts.flatMap((text) => [...text.matchAll(pattern)].map(([found, group = found]) => group))

const once = <T>(items: readonly T[]): T[] => [...new Set(items)].slice(0, MOST)

export const factsOf = ({
  raw_vuln_json,
  vuln_info,
  tags,
}: Pick<Vulnerability, 'raw_vuln_json' | 'vuln_info' | 'tags'>): Facts => {
  const raw = recordOf(raw_vuln_json)
  const texts = (name: keyof typeof NAMES): string[] => asTexts(pick(raw, ...NAMES[name]))
  const named = [vuln_info, ...tags]
  const score = Number(texts('score')[0])
  const cvss = cvssOf(raw)
  return {
    cves: once(
      matches([...named, ...texts('cve')], /\bCVE-\d{4}-\d{4,7}\b/gi).map((cve) => cve.toUpperCase()),
    ),
    cwes: once(matches([...tags, ...texts('cwe')], /\bCWE-(\d{1,5})\b/gi).map(Number)),
    cvssScore: score > 0 && score <= 10 ? score : cvss?.score,
    cvss,
    references: once(
      [...texts('references'), asText(at(raw, 'rule', 'helpUri'))]
        // Those of OSV are objects.
        .flatMap((text) => text.split(/[\s"]+/))
        .filter(isWeb),
    ),
    remediation: texts('remediation').join('\n').slice(0, MAX_TEXT).toWellFormed(),
  }
}

/**
 * A package: `name@version`, `name:version` or `name version`, behind the file that names it. Names may have an `@` or a
 * `:` themselves; the title of a finding begins with the name.
 */
export const packageOf = ({ asset_value, vuln_title }: Vulnerability) => {
  const [, whole = asset_value, version] = /^(.+?)(?:[@ ]|:(?=\d))([^@: ]+)$/s.exec(asset_value) ?? []
  const [, name = ''] = /^(\S+): /.exec(vuln_title) ?? []
  return name !== '' && whole.endsWith(`:${name}`)
    ? { file: whole.slice(0, -name.length - 1), name, version }
    : { file: '', name: whole, version }
}

/** Scores in the middle of the bands of CVSS 3, for readers that show severities by a score. */
const SCORES: Readonly<Record<Severity, number>> = { critical: 9.5, high: 8, medium: 5.5, low: 2, info: 0 }

/** The lowest and highest score of a severity. */
const BANDS: Readonly<Record<Severity, readonly [number, number]>> = {
  critical: [9, 10],
  high: [7, 8.9],
  medium: [4, 6.9],
  low: [0.1, 3.9],
  info: [0, 0],
}

/** The score of CVSS if it has the severity of the finding, which may have been changed by hand. */
export const scoreOf = (severity: Severity, { cvssScore }: Facts): number => {
  const [low, high] = BANDS[severity]
  return cvssScore !== undefined && cvssScore >= low && cvssScore <= high ? cvssScore : SCORES[severity]
}
