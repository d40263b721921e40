import type { Confidence, Severity } from '@scanfarm/contracts'
import { asList, asText, asTexts, at, isRecord } from '../fields.ts'

/** What tools call severities besides our own words, in fields and tags. */
const SEVERITIES: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  blocker: 'critical',
  high: 'high',
  important: 'high',
  medium: 'medium',
  moderate: 'medium',
  major: 'medium',
  low: 'low',
  minor: 'low',
  info: 'info',
  informational: 'info',
  negligible: 'info',
}

const CONFIDENCES: Readonly<Record<string, Confidence>> = {
  certain: 'Certain',
  high: 'Certain',
  firm: 'Firm',
  medium: 'Firm',
  low: 'Tentative',
  tentative: 'Tentative',
}

/** How often results of a rule are right. */
const PRECISIONS: Readonly<Record<string, Confidence>> = {
  'very-high': 'Certain',
  high: 'Firm',
  medium: 'Firm',
  low: 'Tentative',
}

const known = <T>(words: Readonly<Record<string, T>>, value: unknown): T | undefined => {
  const word = asText(value).trim().toLowerCase()
  return Object.hasOwn(words, word) ? words[word] : undefined
}

const bySeverityScore = (score: number): Severity | undefined => {
  if (score >= 9) return 'critical'
  if (score >= 7) return 'high'
  if (score >= 4) return 'medium'
  return score > 0 ? 'low' : undefined
}

/** The severity of a CVSS score; undefined for a score that is not one or 0. */
export const severityOfScore = (value: unknown): Severity | undefined => {
  const score = Number.parseFloat(asText(value))
  return score <= 10 ? bySeverityScore(score) : undefined
}

/** The word of the field, or the first of one whose name ends so: `issue_severity`, `zizmor/severity`, `DevSkimSeverity`. */
const named = <T>(
  bags: readonly unknown[],
  name: string,
  words: Readonly<Record<string, T>>,
): T | undefined => {
  for (const bag of bags)
    for (const [key, value] of isRecord(bag) ? Object.entries({ [name]: '', ...bag }) : []) {
      const found = key.toLowerCase().endsWith(name) ? known(words, value) : undefined
      if (found !== undefined) return found
    }
  return undefined
}

const SEVERITY_TAG = /^(?:CRITICAL|HIGH|MEDIUM|LOW|INFO)$/i
const CONFIDENCE_TAG = /^(HIGH|MEDIUM|LOW) CONFIDENCE$/

/** Properties of a result and of its rule, the more special ones first. */
type Bags = readonly unknown[]

const tagsIn = (bags: Bags): string[] => bags.flatMap((bag) => asList(at(bag, 'tags')).map(asText))

/** The severity by a score, or by the word that the tool has for it; undefined: it only has a level. */
export const ownSeverity = (bags: Bags): Severity | undefined => {
  // A result with the score 0 has none, whatever its rule has.
  const score = bags
    .map((bag) => Number.parseFloat(asText(at(bag, 'security-severity'))))
    .find((one) => one >= 0 && one <= 10)
  return (
    severityOfScore(score) ??
    named(bags, 'severity', SEVERITIES) ??
    known(
      SEVERITIES,
      tagsIn(bags).find((tag) => SEVERITY_TAG.test(tag)),
    )
  )
}

export const ownConfidence = (bags: Bags): Confidence | undefined => {
  const tag = tagsIn(bags).find((text) => CONFIDENCE_TAG.test(text))
  return (
    named(bags, 'confidence', CONFIDENCES) ??
    known(CONFIDENCES, tag?.split(' ')[0]) ??
    bags.map((bag) => known(PRECISIONS, at(bag, 'precision'))).find((found) => found !== undefined)
  )
}

/** Tags without the words for severity and confidence; `external/cwe/cwe-079` also as `CWE-79`, like those of `cwe`. */
export const ownTags = (bags: Bags): string[] => [
  ...tagsIn(bags)
    .filter((tag) => !SEVERITY_TAG.test(tag) && !CONFIDENCE_TAG.test(tag))
    .flatMap((tag) => [tag, ...cwesIn(tag)]),
  ...bags.flatMap((bag) =>
    Object.entries(isRecord(bag) ? bag : {})
      .filter(([name]) => /^cwes?(?:[-_]?ids?)?$/i.test(name))
      .flatMap(([, value]) => asTexts(value))
      .flatMap((text) => cwesIn(/^\d+$/.test(text) ? `CWE-${text}` : text)),
  ),
]

export const cwesIn = (text: string): string[] =>
  [...text.matchAll(/\bCWE[-:_ ] ?0*(\d+)/gi)].map(([, number = '']) => `CWE-${number}`)
