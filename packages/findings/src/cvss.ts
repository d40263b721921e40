import type { Cvss } from '@scanfarm/contracts'
import calculator from 'ae-cvss-calculator'
import { isRecord } from './fields.ts'

/** By name: the library is loaded with the first vector. */
const VERSIONS = { '2.0': 'Cvss2', '3.0': 'Cvss3P0', '3.1': 'Cvss3P1', '4.0': 'Cvss4P0' } as const
const isVersion = (text: string): text is keyof typeof VERSIONS => Object.hasOwn(VERSIONS, text)

/** CVSS 2 has no prefix. CVSS 3 allows each order of the metrics. */
const SHAPE =
  /^(?:CVSS:(\d\.\d)\/)?(?:AV|(?<=:3\..\/)[A-Z]{1,3}):[A-Z](?:\/[A-Za-z]{1,3}:[A-Za-z]{1,5}){5,40}$/
const MAX_VECTOR = 400

/** Undefined for a text that is no vector, or one without all base metrics. */
export const parseCvss = (text: string): Cvss | undefined => {
  if (text.length > MAX_VECTOR) return undefined
  const vector = text.trim().replace(/^\((.*)\)$/, '$1')
  const [matched, version = '2.0'] = SHAPE.exec(vector) ?? []
  if (matched === undefined || !isVersion(version)) return undefined
  // The library uses the last of several values.
  const metrics = vector.split('/').map((metric) => metric.split(':', 1)[0])
  if (new Set(metrics).size < metrics.length) return undefined
  try {
    const parsed = new calculator[VERSIONS[version]](vector)
    if (!parsed.isBaseFullyDefined()) return undefined
    const { base, overall } = parsed.calculateScores()
    return { version, vector, score: base ?? overall }
  } catch {
    return undefined
  }
}

const MAX_VALUES = 10_000
const MAX_DEPTH = 8

/** The vector of the newest version in the record of a scanner, the first of several. */
export const cvssOf = (record: unknown): Cvss | undefined => {
  let best: Cvss | undefined
  let left = MAX_VALUES
  const visit = (value: unknown, depth: number): void => {
    left -= 1
    if (left < 0 || depth > MAX_DEPTH) return
    if (typeof value === 'string') {
      const found = parseCvss(value)
      if (found !== undefined && (best === undefined || found.version > best.version)) best = found
    } else if (Array.isArray(value)) for (const one of value) visit(one, depth + 1)
    else if (isRecord(value)) for (const one of Object.values(value)) visit(one, depth + 1)
  }
  visit(record, 0)
  return best
}
