import type { Severity } from '@scanfarm/contracts'
import { severityOf } from '../../content.ts'
import { asText, at, isRecord, type Unknown } from '../../fields.ts'
import { isCve } from '../code/dependencies.ts'
import { Fingerprints, textWord } from '../fingerprints.ts'
import { LEAK_SEVERITY } from '../code/gitleaks.ts'
import { unreadable, type Imported } from '../read-body.ts'
import { failed, finding } from '../records.ts'
import { Replay } from '../replay.ts'
import { kindOf, readSarif, type FoundResult } from './sarif-log.ts'
import { ruleIdOf, type Location, type SarifRun } from './sarif-run.ts'
import { wordedResult } from './sarif-packages.ts'
import type { ToolFingerprints } from '../tool-fingerprints.ts'
import { ownConfidence, ownSeverity, ownTags } from '../tool-words.ts'

/** Reads the results of a SARIF 2.1.0 file. `root` is the folder that was scanned, for absolute paths. */
export async function* sarifFindings(body: AsyncIterable<Uint8Array>, root = ''): AsyncGenerator<Imported> {
  await using replay = new Replay()
  const { version, runs, folder, problems, results } = await readSarif(replay, body, root)
  const isCut = version === undefined && problems.length > 0 && runs.length > 0
  if (version !== '2.1.0' && !isCut)
    throw unreadable(`it is not SARIF 2.1.0: its version is ${JSON.stringify(version ?? '')}`)
  if (!runs.some(({ run }) => run.namesFolder || run.isOfArtifact)) yield* folder.found()
  yield* problems
  for (const { run, hasResults } of runs) yield* run.failures(hasResults)
  const fingerprints = new Fingerprints()
  for await (const found of results) {
    const { run, result } = found
    const [{ file }] = run.locationsOf(result)
    const message = run.message(at(result, 'message'), undefined)
    if (run.isOfErrors) yield failed([file, message].filter(Boolean).join(': '))
    else if (UNREAD.test(ruleIdOf(result)) || UNREAD_TEXT.test(`${ruleIdOf(result)} ${message}`))
      yield file === '' || hidesOthers(run.tool, ruleIdOf(result))
        ? failed([file, message].filter(Boolean).join(': '))
        : failed(message, { file })
    else yield finding(rowOf(found, fingerprints))
  }
}

/**
 * The rules by which linters report what they could not read, as a result: ruff, flake8, pylint, cfn-lint, biome, oxlint,
 * hadolint, staticcheck, golangci-lint, ansible-lint, stylelint, sqlfluff, checkstyle, clang-tidy, cppcheck, mypy, rubocop,
 * shellcheck.
 */
const UNREAD = new RegExp(
  `^(?:${[
    'invalid-syntax|(?:css|lint/)?syntax-?error|lint/syntax|syntax|E9(?:02|99)|E000[0-3]|parse(?:-?error)?|OXL0001|DL1000|fs/cantRead',
    'compile|typecheck|load-failure\\[.*|PRS|LXR|TMP|com\\.puppycrawl\\.tools\\.checkstyle\\.(?:Checker|TreeWalker)',
    'clang-diagnostic-error|unknownMacro|SC10(?:70|7[23]|8[89])',
  ].join('|')})$`,
  'i',
)

/** staticcheck then reads no other file of the package; golangci-lint and mypy show no result of any other file. */
const hidesOthers = (tool: string, rule: string): boolean =>
  /^(?:compile|typecheck)$/.test(rule) || (rule === 'syntax' && /^mypy/i.test(tool))

/** ruff before 0.12, revive and ktlint name no rule; spectral and actionlint also have results of it in files that they have read. */
const UNREAD_TEXT =
  /^(?: SyntaxError: | invalid file | Not a valid Kotlin file |parser (?!Duplicate key)|syntax-check could not parse )/

/** Properties of a result and of its rule. */
const bagsOf = (result: Unknown, rule: unknown): unknown[] => [
  at(result, 'properties'),
  at(rule, 'properties'),
]

export const severityOfResult = (run: SarifRun, result: Unknown, rule: unknown): Severity => {
  const level = asText(at(result, 'level'))
  const isFail = kindOf(result) === 'fail'
  // nuclei writes what is only informative with a score of 1, but as another kind and the level none.
  if (level === 'none' && !isFail) return 'info'
  // Only results of kind `fail` have a default level.
  const own = ownSeverity(bagsOf(result, rule))
  if (own !== undefined) return own
  if (level === '' && isFail && /^gitleaks$/i.test(run.tool)) return LEAK_SEVERITY
  return severityOf(level || (isFail ? run.levelOf(result) : 'none'))
}

/** zizmor before 1.7 wrote its ids without its name. */
const checkOf = (tool: string, id: string): string =>
  tool === 'zizmor' && id !== '' && !id.includes('/') ? `zizmor/${id}` : id

const MAX_TITLE = 200

const rowOf = ({ result, run, fingerprints: tools }: FoundResult, fingerprints: Fingerprints): Unknown => {
  const rule = run.ruleOf(result)
  const id = checkOf(run.tool, ruleIdOf(result) || asText(at(rule, 'id')))
  const message = run.message(at(result, 'message'), rule)
  const bags = bagsOf(result, rule)
  const web = run.exchangeOf(result)
  const [named, ...others] = run.locationsOf(result)
  const location = locationText(named) === '' ? { ...named, file: web.url, isWeb: web.url !== '' } : named
  const title = message.split('\n')[0]?.slice(0, MAX_TITLE) || id
  const about = ['fullDescription', 'shortDescription'].map((name) => run.message(at(rule, name), rule))
  const description = about.find((text) => text !== '')
  const said = [named, ...others].map((one) => one.said ?? '')
  const more = others.map((one) => locationText(one)).filter((text) => text !== '')
  const region = (name: string): string => asText(at(location.region, name))
  const known = wordedResult({ id, message, rule, location, run })
  return {
    vuln_info: known?.id ?? id,
    // Exports read the name of a package from the title.
    vuln_title:
      known === undefined
        ? title
        : `${known.name}: ${run.message(at(rule, 'shortDescription'), rule) || known.id}`.replace(/^: /, ''),
    vuln_desc: [
      description ?? '',
      description === undefined || message.trim() !== title ? message : '',
      more.length > 0 ? `Also at: ${more.join(', ')}` : '',
    ]
      .filter((text) => text !== '')
      .join('\n\n'),
    severity: known?.severity ?? severityOfResult(run, result, rule),
    confidence: ownConfidence(bags) ?? '',
    ...(known?.location === undefined
      ? placed(location, run)
      : { asset_type: 'package', asset_value: known.location }),
    tags: [
      ...new Set([
        ...(run.tool === '' ? [] : [run.tool]),
        ...ownTags(bags),
        ...run.cwesOf(result, rule),
        ...(known?.aliases ?? []).filter(isCve),
      ]),
    ],
    detail_http_request: web.request,
    detail_http_response: web.response,
    raw_vuln_json: JSON.stringify(known?.purl === undefined ? result : { ...result, purl: known.purl }),
    fingerprint:
      known?.location !== undefined
        ? ''
        : fingerprints.of({
            check: known?.id ?? id,
            file: location.file,
            lasting: known?.lasting ?? lastingOf(tools.of(result), location, web.word),
            line: region('startLine'),
            // A location in a file without lines only has an offset.
            column: region('startColumn') || (region('startLine') === '' ? offsetOf(location) : ''),
            rest: JSON.stringify([region('endLine'), region('endColumn'), message, more, said]),
          }),
    ...ownFields(result),
  }
}

/** A result without a location concerns what the tool examined. */
const placed = (location: Location, run: SarifRun): Unknown => ({
  asset_type: location.isWeb ? 'web' : locationText(location) === '' ? 'other' : 'file',
  asset_value: location.isWeb ? location.file : locationText(location) || run.tool,
})

const offsetOf = ({ region, address }: Location): string =>
  asText(at(region, 'charOffset') ?? at(region, 'byteOffset')) ||
  asText(at(address, 'absoluteAddress') ?? at(address, 'relativeAddress'))

/** The fingerprints of the tool, the line of a commit, which never changes, its text, the web request, or the logical one. */
const lastingOf = (
  tool: ReturnType<ToolFingerprints['of']>,
  { region, context, logical, said = '' }: Location,
  request: string,
): string[] => {
  if (tool.whole.length > 0) return tool.whole
  const line = asText(at(region, 'startLine'))
  if (tool.commit.length > 0 && line !== '') return [...tool.commit, `line ${line}`]
  const snippet = asText(at(region, 'snippet', 'text')) || lineIn(context, Number(line))
  const text = snippet.trim() === '' ? [] : [`text ${textWord(snippet)}`]
  const lasting = [...tool.commit, ...tool.partial, ...text, ...(request === '' ? [] : [request])]
  const location = logical || said
  return lasting.length > 0 || location === '' ? lasting : [`in ${textWord(location)}`]
}

/** A line of the text around a result. */
const lineIn = (context: unknown, line: number): string =>
  asText(at(context, 'snippet', 'text')).split(/\r?\n/)[line - Number(at(context, 'startLine'))] ?? ''

export const locationText = ({ file, region, logical }: Location): string => {
  const line = asText(at(region, 'startLine'))
  if (file === '') return logical
  return line === '' ? file : `${file}:${line}`
}

/** Fields that the SARIF export of Scanfarm adds, so that a round trip loses nothing. */
const ownFields = (result: Unknown): Unknown => {
  const own = at(result, 'properties', 'scanfarm')
  return isRecord(own) ? own : {}
}
