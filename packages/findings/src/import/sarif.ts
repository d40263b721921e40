import { severityOf } from '../content.ts'
import { asList, asText, at, isRecord, type Unknown } from '../fields.ts'
import { Fingerprints, textWord } from './fingerprints.ts'
import { pathOf, ScannedFolder } from './paths.ts'
import { unreadable, type Imported } from './read-body.ts'
import { jsonParts } from './read-json.ts'
import { finding } from './records.ts'
import { Replay } from './replay.ts'
import { noParts, ruleIdOf, SarifRun, type RunParts } from './sarif-run.ts'
import { ToolFingerprints } from './tool-fingerprints.ts'
import { ownConfidence, ownSeverity, ownTags } from './tool-words.ts'

const RESULTS = 'runs.[].results.[]'
/** The lists of a run that its results refer to. */
const LISTS = ['invocations', 'artifacts', 'taxonomies', 'logicalLocations'] as const
const PARTS = [
  'version',
  'runs',
  'runs.[].tool',
  'runs.[].originalUriBaseIds',
  'runs.[].externalPropertyFileReferences',
  ...LISTS.map((list) => `runs.[].${list}.[]`),
  RESULTS,
]

/** What the first reading of a file has found out. */
interface Survey {
  version: string | undefined
  readonly runs: Map<string, SurveyedRun>
  readonly problems: Imported[]
}

interface SurveyedRun {
  readonly parts: RunParts
  readonly folder: ScannedFolder
  readonly fingerprints: ToolFingerprints
  results: number
}

/**
 * Reads the results of a SARIF 2.1.0 file. Results refer to rules, files and texts that may follow them, so the file is
 * read twice. `root` is the folder that was scanned, for absolute paths.
 */
export async function* sarifFindings(body: AsyncIterable<Uint8Array>, root = ''): AsyncGenerator<Imported> {
  await using replay = new Replay()
  const { version, runs, problems } = await surveyOf(replay.first(body))
  const isCut = version === undefined && problems.length > 0 && runs.size > 0
  if (version !== '2.1.0' && !isCut)
    throw unreadable(
      `it is not SARIF 2.1.0: expected version "2.1.0" and a list of runs, got version ${JSON.stringify(version ?? '')}`,
    )
  yield* problems
  const resolved = new Map<string, SarifRun>()
  for (const [key, { parts, folder, results }] of runs) {
    const run = new SarifRun(parts, folder, root)
    resolved.set(key, run)
    yield* run.failures(results > 0)
  }
  const fingerprints = new Fingerprints()
  for await (const { key, value } of resultsOf(replay.again())) {
    const run = resolved.get(key)
    const tools = runs.get(key)?.fingerprints
    if (run === undefined || tools === undefined) continue
    if (!isRecord(value)) yield { kind: 'error', reason: 'a result is not an object' }
    else if (!isNoFinding(value)) yield finding(rowOf(value, run, tools, fingerprints))
  }
}

/** Counts the files in a body that contains several. */
const runKeys = () => {
  let file = 0
  return (path: readonly string[]): string => {
    if (path.length === 1) file += 1
    return `${file} ${path[1] ?? ''}`
  }
}

const surveyOf = async (body: AsyncIterable<Uint8Array>): Promise<Survey> => {
  const survey: Survey = { version: undefined, runs: new Map(), problems: [] }
  const keyOf = runKeys()
  for await (const part of jsonParts(body, ...PARTS)) {
    if (part.kind === 'problem') {
      survey.problems.push({ kind: 'error', reason: part.reason, line: part.line })
      continue
    }
    if (part.at === 'version') {
      survey.version = asText(part.value)
      continue
    }
    const key = keyOf(part.path)
    if (part.at === 'runs') continue
    const run = survey.runs.get(key) ?? {
      parts: noParts(),
      folder: new ScannedFolder(),
      fingerprints: new ToolFingerprints(),
      results: 0,
    }
    survey.runs.set(key, run)
    const external = addPart(run, part.at, part.value)
    if (external !== undefined) survey.problems.push({ kind: 'failed', reason: external })
  }
  return survey
}

/** Returns a problem if the results are in another file. */
const addPart = (run: SurveyedRun, name: string, value: unknown): string | undefined => {
  const { parts, folder } = run
  if (name === RESULTS) {
    run.results += 1
    run.fingerprints.add(value)
    for (const place of asList(at(value, 'locations')))
      folder.add(pathOf(asText(at(place, 'physicalLocation', 'artifactLocation', 'uri'))))
  } else if (name === 'runs.[].tool') parts.tool = value
  else if (name === 'runs.[].originalUriBaseIds') parts.bases = value
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

async function* resultsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ key: string; value: unknown }> {
  const keyOf = runKeys()
  for await (const part of jsonParts(body, 'runs', RESULTS)) {
    if (part.kind === 'problem') continue
    const key = keyOf(part.path)
    if (part.at === RESULTS) yield { key, value: part.value }
  }
}

/** Kinds of results that report no problem. */
const NO_FINDINGS: ReadonlySet<string> = new Set(['pass', 'notApplicable'])
const kindOf = (result: unknown): string => asText(at(result, 'kind')) || 'fail'

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

const MAX_TITLE = 200
const MAX_PLACES = 50

const rowOf = (
  result: Unknown,
  run: SarifRun,
  tools: ToolFingerprints,
  fingerprints: Fingerprints,
): Unknown => {
  const rule = run.ruleOf(result)
  const id = ruleIdOf(result) || asText(at(rule, 'id'))
  const message = run.message(at(result, 'message'), rule)
  const bags = [at(result, 'properties'), at(rule, 'properties')]
  const locations = asList(at(result, 'locations'))
  const [place = run.placeOf(undefined), ...others] = locations
    .slice(0, MAX_PLACES)
    .map((one) => run.placeOf(one))
  const ofRule = asText(at(rule, 'defaultConfiguration', 'level')) || 'warning'
  // Only results of kind `fail` have a default level.
  const level = asText(at(result, 'level')) || (kindOf(result) === 'fail' ? ofRule : 'none')
  const title = message.split('\n')[0]?.slice(0, MAX_TITLE) || id
  const about = ['fullDescription', 'shortDescription'].map((name) => run.message(at(rule, name), rule))
  const description = about.find((text) => text !== '')
  const more = others.map((one) => textOfPlace(one)).filter((text) => text !== '')
  const isWeb = /^https?:/i.test(place.file)
  const region = (name: string): string => asText(at(place.region, name))
  const snippet = asText(at(place.region, 'snippet', 'text'))
  return {
    vuln_info: id,
    vuln_title: title,
    vuln_desc: [
      description ?? '',
      description === undefined || message.trim() !== title ? message : '',
      more.length > 0 ? `Also at: ${more.join(', ')}` : '',
    ]
      .filter((text) => text !== '')
      .join('\n\n'),
    severity: ownSeverity(bags) ?? severityOf(level),
    confidence: ownConfidence(bags) ?? '',
    asset_type: isWeb ? 'web' : 'file',
    asset_value: isWeb ? place.file : textOfPlace(place),
    tags: [
      ...new Set([...(run.tool === '' ? [] : [run.tool]), ...ownTags(bags), ...run.cwesOf(result, rule)]),
    ],
    raw_vuln_json: JSON.stringify(result),
    fingerprint: fingerprints.of({
      check: id,
      file: place.file,
      lasting: lastingOf(tools.of(result), snippet, place.logical),
      line: region('startLine'),
      column: region('startColumn'),
      rest: JSON.stringify([region('endLine'), region('endColumn'), message, more]),
    }),
    ...ownFields(result),
  }
}

/** The fingerprints of the tool, the text of the line, or else the logical place. */
const lastingOf = (tool: ReturnType<ToolFingerprints['of']>, snippet: string, logical: string): string[] => {
  if (tool.whole.length > 0) return tool.whole
  const text = snippet.trim() === '' ? [] : [`text ${textWord(snippet)}`]
  const lasting = [...tool.partial, ...text]
  return lasting.length > 0 || logical === '' ? lasting : [`in ${textWord(logical)}`]
}

const textOfPlace = ({ file, region, logical }: ReturnType<SarifRun['placeOf']>): string => {
  const line = asText(at(region, 'startLine'))
  if (file === '') return logical
  return line === '' ? file : `${file}:${line}`
}

/** Fields that the SARIF export of Scanfarm adds, so that a round trip loses nothing. */
const ownFields = (result: Unknown): Unknown => {
  const own = at(result, 'properties', 'scanfarm')
  return isRecord(own) ? own : {}
}
