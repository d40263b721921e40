import { asText, asTexts, at, isRecord } from '../../fields.ts'
import { dependencyFinding } from './dependencies.ts'
import { Fingerprints, textWords } from '../fingerprints.ts'
import { isList, jsonReport } from '../json/json-report.ts'
import { inArtifact, pathOf } from '../paths.ts'
import type { Imported } from '../read-body.ts'
import { jsonParts } from '../json/read-json.ts'
import { failed, finding, paragraphs, unusable } from '../records.ts'
import { Replay } from '../replay.ts'

/** Resources of a cluster (trivy k8s); the last two names are those of versions before 0.37. */
const RESOURCES = ['Resources', 'Findings', 'Vulnerabilities', 'Misconfigurations'].map(
  (list) => `${list}.[]`,
)
/** Versions before 0.20 wrote a list of targets. */
const TARGETS = ['Results.[]', '[]', ...RESOURCES.map((resource) => `${resource}.Results.[]`)]
const RESULTS = ['Vulnerabilities.[]', 'Misconfigurations.[]', 'Secrets.[]']

const under = (places: readonly string[], names: readonly string[]): string[] =>
  places.flatMap((place) => names.map((name) => `${place}.${name}`))

/** What a report says about its targets and resources, which may follow their results. */
const FACTS = [
  'ArtifactName',
  'ArtifactType',
  ...under(TARGETS, ['Target', 'Class']),
  ...under(RESOURCES, ['Namespace', 'Kind', 'Name']),
]
const PATTERNS = [
  '',
  '[]',
  'ArtifactName',
  'ClusterName',
  ...under(RESOURCES, ['Error']),
  ...under(TARGETS, RESULTS),
]
/** Shows that it is a report of trivy; `''` only for a list. */
const SIGNS = [...under(TARGETS, ['Target']), ...under(RESOURCES, ['Kind'])]

/** Types of lists of packages, and of disks of machines: targets are in them, as in an image. */
const LISTS: ReadonlySet<string> = new Set(['cyclonedx', 'spdx', 'vm'])

/** Where results are. */
interface Target {
  /** A file, an image, or a resource of a cluster. */
  readonly file: string
  /** What of a resource it is, or `""`. */
  readonly part: string
  /** The image, list of packages or disk that the file is in, or `""`. */
  readonly image: string
}

/** Reads JSON of trivy: packages with vulnerabilities, misconfigurations and secrets of each target. */
export async function* trivyFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  await using replay = new Replay()
  const facts = new Facts()
  for await (const part of jsonParts(replay.first(body), '', ...FACTS))
    if (part.kind === 'value') facts.add(part.path, asText(part.value))
  facts.rewind()
  const fingerprints = new Fingerprints()
  let others = 0
  for await (const part of jsonReport(replay.again(), isList, ...PATTERNS, ...SIGNS)) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === '[]') others += 1
    else if (part.at === '[].Target') others -= 1
    else if (part.at === '') facts.next()
    else if (part.at.endsWith('].Error') && asText(part.value) !== '')
      yield failed(asText(part.value), { file: facts.resourceOf(part.path) })
    else if (RESULTS.some((list) => part.at.endsWith(`.${list}`)))
      yield* records(part.at, part.value, facts.targetOf(part.path.slice(0, -2)), fingerprints)
  }
  if (others > 0) yield unusable('it is a list of reports: write them one behind the other instead')
}

class Facts {
  readonly #known = new Map<string, string>()
  /** Counts the reports of a body that contains several. */
  #report = 0

  add(path: readonly string[], value: string): void {
    if (path.length === 0) this.next()
    else this.#known.set(this.#key(path), value)
  }

  next(): void {
    this.#report += 1
  }

  rewind(): void {
    this.#report = 0
  }

  /** `namespace/kind/name` of the resource that a path is in, or `""`. */
  resourceOf(path: readonly string[]): string {
    const resource = path.slice(0, 2)
    const names = ['Namespace', 'Kind', 'Name'].map((name) => this.#of([...resource, name]))
    return names.filter((name) => name !== '').join('/')
  }

  targetOf(path: readonly string[]): Target {
    const artifact = this.#of(['ArtifactName'])
    const name = this.#of([...path, 'Target']) || artifact
    const type = this.#of(['ArtifactType'])
    const image = type === 'container_image' ? artifact : LISTS.has(type) ? pathOf(artifact) : ''
    // `alpine:3.10 (alpine 3.10.2)`: the system, whose version an update of the image changes.
    const isSystem = this.#of([...path, 'Class']) === 'os-pkgs'
    if (image !== '') {
      const isWhole = isSystem || name === artifact
      return { file: isWhole ? image : inArtifact(image, pathOf(name)), part: '', image }
    }
    const target = pathOf(isSystem ? name.replace(/ \([^()]*\)$/, '') : name)
    const resource = path.length > 2 ? this.resourceOf(path) : ''
    return resource === '' ? { file: target, part: '', image } : { file: resource, part: target, image }
  }

  #of(path: readonly string[]): string {
    return this.#known.get(this.#key(path)) ?? ''
  }

  #key(path: readonly string[]): string {
    return `${this.#report} ${path.join('/')}`
  }
}

function* records(
  list: string,
  value: unknown,
  target: Target,
  fingerprints: Fingerprints,
): Generator<Imported> {
  const { file, part } = target
  const inPart = part === '' || file.endsWith(part) ? [] : [part]
  if (list.endsWith('.Vulnerabilities.[]')) yield packageRecord(value, target, inPart)
  else if (list.endsWith('.Secrets.[]')) {
    const fingerprint = fingerprints.of({
      check: asText(at(value, 'RuleID')),
      file,
      lasting: [...inPart, ...textWords(asText(at(value, 'Match')))],
      line: asText(at(value, 'StartLine')),
      column: '',
      rest: '',
    })
    yield secretRecord(value, file, fingerprint)
  } else if (isFailure(value)) {
    const fingerprint = fingerprints.of({
      check: checkOf(value),
      file,
      // SARIF of trivy names neither the resource nor the text of the line.
      lasting: [...inPart, ...textWords(asText(at(value, 'Message')))],
      line: lineOf(value),
      column: '',
      rest: asText(at(value, 'CauseMetadata', 'EndLine')),
    })
    yield misconfigurationRecord(value, file, fingerprint)
  }
}

const packageRecord = (one: unknown, { file, image }: Target, part: readonly string[]): Imported => {
  const path = pathOf(asText(at(one, 'PkgPath')))
  // Packages of the system are in the image itself.
  const isInFile = path !== '' && part.length === 0 && (image === '' || file !== image)
  return dependencyFinding({
    tool: 'trivy',
    id: asText(at(one, 'VulnerabilityID')),
    aliases: asTexts(at(one, 'VendorIDs')),
    file: isInFile ? inArtifact(image, path) : file,
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
    fingerprint: part.length === 0 ? '' : [...part, path].join(' ').trim(),
    raw: one,
  })
}

/** With `--include-non-failures` the report also lists what is in order. */
const isFailure = (one: unknown): boolean => (asText(at(one, 'Status')) || 'FAIL') === 'FAIL'

const placeOf = (target: string, line: string): string =>
  line === '' || line === '0' ? target : `${target}:${line}`

/** `DS-0002`, which older versions write as AVDID, with `AVD-` in front. */
export const checkId = (id: string): string =>
  id.replace(/^AVD-/, '').replace(/^([A-Z]+)0*(\d{3})$/, '$1-0$2')
const checkOf = (one: unknown): string => checkId(asText(at(one, 'AVDID')) || asText(at(one, 'ID')))

const lineOf = (one: unknown): string => {
  const line = asText(at(one, 'CauseMetadata', 'StartLine'))
  return line === '0' ? '' : line
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
