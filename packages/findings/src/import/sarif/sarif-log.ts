import { asList, asText, at, isRecord, type Unknown } from '../../fields.ts'
import { isLogLine } from '../json/json-report.ts'
import { pathOf, ScannedFolder } from '../paths.ts'
import type { Imported } from '../read-body.ts'
import { jsonParts } from '../json/read-json.ts'
import type { Replay } from '../replay.ts'
import { LISTS, noParts, SarifRun, type RunParts } from './sarif-run.ts'
import { ToolFingerprints } from '../tool-fingerprints.ts'

const RESULTS = 'runs.[].results.[]'
const PARTS = [
  'version',
  'runs',
  'runs.[].tool',
  'runs.[].originalUriBaseIds',
  'runs.[].properties',
  'runs.[].externalPropertyFileReferences',
  ...LISTS.map((list) => `runs.[].${list}.[]`),
  RESULTS,
]

/** A result that is a finding, and what its run says about it. */
export interface FoundResult {
  readonly result: Unknown
  readonly run: SarifRun
  readonly fingerprints: ToolFingerprints
}

export interface SarifLog {
  readonly version: string | undefined
  readonly runs: readonly { readonly run: SarifRun; readonly hasResults: boolean }[]
  /** The files of all runs: two files of the same name in different runs are in different folders. */
  readonly folder: ScannedFolder
  readonly problems: readonly Imported[]
  readonly results: AsyncIterable<FoundResult>
}

interface SurveyedRun {
  readonly parts: RunParts
  readonly fingerprints: ToolFingerprints
  hasResults: boolean
}

/**
 * Reads the results of a SARIF file. They refer to rules, files and texts that may follow them, so the file is read twice.
 * `root` is the folder that was scanned, for absolute paths.
 */
export const readSarif = async (
  replay: Replay,
  body: AsyncIterable<Uint8Array>,
  root: string,
): Promise<SarifLog> => {
  let version: string | undefined
  const problems: Imported[] = []
  const surveyed = new Map<string, SurveyedRun>()
  const folder = new ScannedFolder()
  const keyOf = runKeys()
  for await (const part of jsonParts(replay.first(body), ...PARTS)) {
    if (part.kind === 'problem') {
      if (!isLogLine(part)) problems.push({ kind: 'error', reason: part.reason, line: part.line })
      continue
    }
    if (part.at === 'version') {
      version = asText(part.value)
      continue
    }
    const key = keyOf(part.path)
    if (part.at === 'runs') continue
    const run = surveyed.get(key) ?? {
      parts: noParts(),
      fingerprints: new ToolFingerprints(),
      hasResults: false,
    }
    surveyed.set(key, run)
    const external = addPart(run, folder, part.at, part.value)
    if (external !== undefined) problems.push({ kind: 'failed', reason: external })
    if (part.at === RESULTS && !isRecord(part.value))
      problems.push({ kind: 'error', reason: 'a result is not an object', line: part.line })
  }
  const runs = new Map(
    [...surveyed].map(([key, { parts, fingerprints, hasResults }]) => [
      key,
      { run: new SarifRun(parts, folder, root), fingerprints, hasResults },
    ]),
  )
  return { version, problems, folder, runs: [...runs.values()], results: resultsOf(replay.again(), runs) }
}

/** Counts the files in a body that contains several. */
const runKeys = () => {
  let file = 0
  return (path: readonly string[]): string => {
    if (path.length === 1) file += 1
    return `${file} ${path[1] ?? ''}`
  }
}

/** Returns a problem if the results are in another file. */
const addPart = (
  run: SurveyedRun,
  folder: ScannedFolder,
  name: string,
  value: unknown,
): string | undefined => {
  const { parts } = run
  if (name === RESULTS) {
    run.hasResults = true
    run.fingerprints.add(value)
    for (const place of asList(at(value, 'locations')))
      folder.add(pathOf(asText(at(place, 'physicalLocation', 'artifactLocation', 'uri'))))
  } else if (name === 'runs.[].tool') parts.tool = value
  else if (name === 'runs.[].originalUriBaseIds') parts.bases = value
  else if (name === 'runs.[].properties') parts.properties = value
  else if (name === 'runs.[].externalPropertyFileReferences') {
    const [first] = asList(at(value, 'results'))
    if (first !== undefined)
      return `the results are in another file, which must be imported itself: ${asText(at(first, 'location', 'uri'))}`
  } else {
    const list = LISTS.find((one) => name === `runs.[].${one}.[]`)
    if (list === undefined) return undefined
    parts[list].push(value)
    if (list === 'artifacts') folder.add(pathOf(asText(at(value, 'location', 'uri'))))
  }
  return undefined
}

async function* resultsOf(
  body: AsyncIterable<Uint8Array>,
  runs: ReadonlyMap<string, Omit<FoundResult, 'result'>>,
): AsyncGenerator<FoundResult> {
  const keyOf = runKeys()
  for await (const part of jsonParts(body, 'runs', RESULTS)) {
    if (part.kind === 'problem') continue
    const found = runs.get(keyOf(part.path))
    const result = part.at === RESULTS ? part.value : undefined
    if (found !== undefined && isRecord(result) && !isNoFinding(result)) yield { ...found, result }
  }
}

/** Kinds of results that report no problem. */
const NO_FINDINGS: ReadonlySet<string> = new Set(['pass', 'notApplicable'])

export const kindOf = (result: unknown): string => asText(at(result, 'kind')) || 'fail'

/** Also results that are no longer there, and those that the tool or its user has accepted. */
const isNoFinding = (result: Unknown): boolean => {
  const suppressions = asList(at(result, 'suppressions'))
  const isAccepted = (one: unknown) => (asText(at(one, 'status')) || 'accepted') === 'accepted'
  return (
    NO_FINDINGS.has(kindOf(result)) ||
    at(result, 'baselineState') === 'absent' ||
    (suppressions.length > 0 && suppressions.every(isAccepted))
  )
}
