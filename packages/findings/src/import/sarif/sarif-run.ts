import { asList, asText, at, isRecord, type Unknown } from '../../fields.ts'
import { inArtifact, isAbsolute, pathOf, type ScannedFolder, spelled, withoutParents } from '../paths.ts'
import type { Imported } from '../read-body.ts'
import { Descriptors, itemAt, referenceIn, type Reference } from './sarif-descriptors.ts'
import { webExchange, type WebExchange } from './sarif-web.ts'
import { cwesIn } from '../tool-words.ts'

/** The lists of a run that its results refer to. */
export const LISTS = [
  'invocations',
  'artifacts',
  'taxonomies',
  'logicalLocations',
  'webRequests',
  'webResponses',
] as const

/** What a run of a SARIF file says besides its results. */
export interface RunParts extends Readonly<Record<(typeof LISTS)[number], unknown[]>> {
  tool: unknown
  bases: unknown
  properties: unknown
}

export const noParts = (): RunParts => ({
  tool: undefined,
  bases: undefined,
  properties: undefined,
  invocations: [],
  artifacts: [],
  taxonomies: [],
  logicalLocations: [],
  webRequests: [],
  webResponses: [],
})

const MAX_PLACES = 50

export interface Location {
  /** A path in the scanned folder, or a URI; `""`: none. */
  readonly file: string
  readonly isWeb: boolean
  readonly region: unknown
  /** Where it is in memory. */
  readonly address?: unknown
  /** The lines around it. */
  readonly context?: unknown
  /** The name of a function, class or resource, or `""`. */
  readonly logical: string
  /** What the tool says about it, or `""`. */
  readonly said?: string
}

/** Follows the references in a run. */
export class SarifRun {
  readonly tool: string
  readonly #parts: RunParts
  readonly #rules: Descriptors
  readonly #notifications: Descriptors
  readonly #folder: ScannedFolder
  readonly #folders: readonly string[]

  constructor(parts: RunParts, folder: ScannedFolder, root: string) {
    this.#parts = parts
    this.#folder = folder
    this.tool = asText(at(parts.tool, 'driver', 'name'))
    this.#rules = new Descriptors(parts.tool, 'rules', parts.invocations)
    this.#notifications = new Descriptors(parts.tool, 'notifications', parts.invocations)
    // A base in another one is a folder of the checkout.
    const bases = Object.values(isRecord(parts.bases) ? parts.bases : {})
      .filter((base) => at(base, 'uriBaseId') === undefined)
      .map((base) => pathOf(asText(at(base, 'uri'))))
    const working = parts.invocations.map((one) => pathOf(asText(at(one, 'workingDirectory', 'uri'))))
    this.#folders = [pathOf(root), ...[...bases, ...working].filter(isAbsolute)].filter(Boolean)
  }

  /** The image that trivy has scanned, or `""`. */
  get image(): string {
    return /^trivy$/i.test(this.tool) ? asText(at(this.#parts.properties, 'imageName')) : ''
  }

  /** Whether absolute paths are those of an image, or, with grype, in the scanned folder. */
  get isOfArtifact(): boolean {
    return this.image !== '' || /^grype$/i.test(this.tool)
  }

  /** The results are what tflint could not do, as another tool. */
  get isOfErrors(): boolean {
    return this.tool === 'tflint-errors'
  }

  /** Whether the run or the import names the folder that was scanned. */
  get namesFolder(): boolean {
    return this.#folders.length > 0
  }

  /** The folder of a base; a relative one is in the scanned folder. */
  #base(id: string, depth = 0): string {
    const base = at(this.#parts.bases, id)
    const outer = asText(at(base, 'uriBaseId'))
    const uri = pathOf(asText(at(base, 'uri')))
    return outer === '' || depth > 8 ? uri : inFolder(this.#base(outer, depth + 1), uri)
  }

  ruleOf(result: Unknown): unknown {
    return this.#rules.of(ruleReference(result))
  }

  /** The level of a result of kind `fail` that names none. */
  levelOf(result: Unknown): string {
    return this.#rules.levelOf(ruleReference(result), at(result, 'provenance', 'invocationIndex'))
  }

  /** The text of a message: as text, by its id, or as Markdown. Links to places become their text. */
  message(message: unknown, rule: unknown): string {
    const id = asText(at(message, 'id'))
    const texts = [at(this.#parts.tool, 'driver'), ...asList(at(this.#parts.tool, 'extensions'))]
    const byId =
      id === ''
        ? undefined
        : [at(rule, 'messageStrings', id), ...texts.map((one) => at(one, 'globalMessageStrings', id))].find(
            isRecord,
          )
    const said = [message, byId].filter(isRecord)
    const text =
      said.map((one) => asText(at(one, 'text'))).find((one) => one !== '') ??
      said.map((one) => asText(at(one, 'markdown'))).find((one) => one !== '') ??
      ''
    const given = asList(at(message, 'arguments')).map(asText)
    return text
      .replaceAll(/\{\{|\}\}|\{(\d+)\}/g, (found, n?: string) =>
        n === undefined ? (given.length > 0 ? found.charAt(0) : found) : (given[Number(n)] ?? found),
      )
      .replaceAll(/\[((?:[^\]\\]|\\.){1,500})\]\(\d+\)/g, '$1')
  }

  /** At least one, which may be empty. */
  locationsOf(result: Unknown): [Location, ...Location[]] {
    const listed = asList(at(result, 'locations'))
    // cppcheck lists the steps that lead to the place.
    const [named, ...others] = (/^cppcheck/i.test(this.tool) ? listed.toReversed() : listed).slice(
      0,
      MAX_PLACES,
    )
    const first = named ?? { physicalLocation: { artifactLocation: at(result, 'analysisTarget') } }
    return [this.locationOf(first), ...others.map((one) => this.locationOf(one))]
  }

  exchangeOf(result: Unknown): WebExchange {
    const of = (name: string, listed: readonly unknown[]): unknown => {
      const own = at(result, name)
      return itemAt(listed, at(own, 'index')) ?? own
    }
    return webExchange(of('webRequest', this.#parts.webRequests), of('webResponse', this.#parts.webResponses))
  }

  locationOf(location: unknown): Location {
    const physical = at(location, 'physicalLocation')
    const named = at(physical, 'artifactLocation')
    const listed = itemAt(this.#parts.artifacts, at(named, 'index'))
    const server = serverIn(named)
    const path = server ?? (this.fileOf(named) || this.fileOf(at(listed, 'location')))
    const isWeb = server !== undefined || /^https?:/i.test(path)
    const logical = asList(at(location, 'logicalLocations')).map((one) => {
      const whole = itemAt(this.#parts.logicalLocations, at(one, 'index'))
      return asText(at(one, 'fullyQualifiedName')) || this.#nameOf(whole) || this.#nameOf(one)
    })
    return {
      file: isWeb ? spelled(path) : path,
      isWeb,
      region: at(physical, 'region'),
      address: at(physical, 'address'),
      context: at(physical, 'contextRegion'),
      logical: logical.find((name) => name !== '') ?? '',
      said: asText(at(location, 'message', 'text')),
    }
  }

  /** The qualified name of a logical location, or its name behind those of the ones around it. */
  #nameOf(logical: unknown, depth = 0): string {
    const whole = asText(at(logical, 'fullyQualifiedName'))
    const outer = itemAt(this.#parts.logicalLocations, at(logical, 'parentIndex'))
    const around = whole !== '' || outer === undefined || depth > 8 ? '' : this.#nameOf(outer, depth + 1)
    return whole || [around, asText(at(logical, 'name'))].filter((name) => name !== '').join('.')
  }

  fileOf(artifactLocation: unknown): string {
    const uri = asText(at(artifactLocation, 'uri'))
    if (uri === '') return ''
    const base = asText(at(artifactLocation, 'uriBaseId'))
    const path = base === '' ? pathOf(uri) : withoutParents(inFolder(this.#base(base), pathOf(uri)))
    return this.isOfArtifact ? inArtifact(this.image, path) : this.#folder.relative(path, this.#folders)
  }

  /** The CWEs of a result and its rule: references to the taxonomy, by id or index. */
  cwesOf(result: Unknown, rule: unknown): string[] {
    const targets = asList(at(rule, 'relationships')).map((one) => at(one, 'target'))
    return [...targets, ...asList(at(result, 'taxa'))].flatMap((target) => {
      const component = at(target, 'toolComponent')
      const guid = asText(at(component, 'guid'))
      const taxonomy =
        itemAt(this.#parts.taxonomies, at(component, 'index')) ??
        (guid === '' ? undefined : this.#parts.taxonomies.find((one) => at(one, 'guid') === guid))
      const name = asText(at(component, 'name') ?? at(taxonomy, 'name'))
      const id = asText(
        at(target, 'id') ?? at(itemAt(asList(at(taxonomy, 'taxa')), at(target, 'index')), 'id'),
      )
      return cwesIn(/^\d+$/.test(id) && /\bcwe\b/i.test(name) ? `CWE-${id}` : id)
    })
  }

  /** What the scan could not look at. */
  *failures(hasResults: boolean): Generator<Imported> {
    for (const [index, invocation] of this.#parts.invocations.entries()) {
      const notifications = ['toolExecutionNotifications', 'toolConfigurationNotifications']
        .flatMap((list) => asList(at(invocation, list)))
        .filter((one) => this.#isError(one, index))
      for (const one of notifications) yield* this.#failure(one)
      const ok = at(invocation, 'executionSuccessful')
      const code = at(invocation, 'exitCode')
      const failed = typeof ok === 'boolean' ? !ok : typeof code === 'number' && code !== 0 && !hasResults
      const isOfFiles = notifications.length > 0 && notifications.every((one) => this.#isOfFiles(one))
      if (failed && !(isOfFiles && reasonIn(invocation) === ''))
        yield { kind: 'failed', reason: reasonOf(invocation, this.tool) }
    }
  }

  /** ESLint and PMD write the errors of files that they could not parse, and that they were not successful. */
  #isOfFiles(notification: unknown): boolean {
    // A crash is another error; PMD goes on with the next file.
    const goesOn = at(notification, 'exception') === undefined || this.tool === 'PMD'
    return goesOn && this.#filesOf(notification).length > 0
  }

  #filesOf(notification: unknown): string[] {
    return asList(at(notification, 'locations'))
      .map((location) => this.locationOf(location).file)
      .concat(this.#unreadBySemgrep(notification))
      .filter((file) => file !== '')
  }

  #unreadBySemgrep(notification: unknown): string {
    if (!/^semgrep/i.test(this.tool)) return ''
    const [, parsed, analysed] = UNREAD_BY_SEMGREP.exec(asText(at(notification, 'message', 'text'))) ?? []
    return this.fileOf({ uri: parsed ?? analysed, uriBaseId: '%SRCROOT%' })
  }

  #isError(notification: unknown, invocation: number): boolean {
    const descriptor = referenceIn(at(notification, 'descriptor'))
    const level = asText(at(notification, 'level'))
    if (level === '' && at(notification, 'exception') !== undefined) return true
    if (this.#unreadBySemgrep(notification) !== '') return true
    return (level || this.#notifications.levelOf(descriptor, invocation)) === 'error'
  }

  *#failure(notification: unknown): Generator<Imported> {
    const reference = referenceIn(at(notification, 'descriptor'))
    const descriptor = this.#notifications.of(reference)
    const reason =
      this.message(at(notification, 'message'), descriptor) ||
      asText(at(notification, 'exception', 'message')) ||
      this.message(at(descriptor, 'shortDescription'), descriptor) ||
      asText(at(descriptor, 'id')) ||
      reference.id ||
      `${this.tool} reports an error`
    const files = this.#filesOf(notification)
    for (const file of new Set(files)) yield { kind: 'failed', reason, file }
    if (files.length === 0) yield { kind: 'failed', reason }
  }
}

/** A warning of semgrep names the file, of which it read only a part, in its text. */
const UNREAD_BY_SEMGREP = /^[\w ]+ (?:at line (.+):\d+|when running \S+ on (.+)):$/m

export const ruleIdOf = (result: Unknown): string => asText(at(result, 'ruleId') ?? at(result, 'rule', 'id'))

const ruleReference = (result: Unknown): Reference => {
  const named = referenceIn(at(result, 'rule'))
  return { ...named, id: ruleIdOf(result) || named.id, index: at(result, 'ruleIndex') ?? named.index }
}

/** nuclei writes the path of a page as `//admin`, and describes it as `http:/host/admin` or `host:port`. */
const serverIn = (artifactLocation: unknown): string | undefined => {
  const uri = asText(at(artifactLocation, 'uri'))
  const text = asText(at(artifactLocation, 'description', 'text'))
  const isServer = /^(?:https?:\/{1,2}[^\s/]|[^\s/:]+:\d+(?:\/|$))\S*$/i.test(text)
  if (!isServer || !uri.startsWith('/') || !text.endsWith(uri.replace(/^\/+/, ''))) return undefined
  return spelled(text.replace(/^(https?:)\/+/i, '$1//'))
}

const inFolder = (folder: string, path: string): string =>
  ['', '.', './'].includes(folder) || /^(?:\/|[A-Za-z]:\/|[a-z][a-z0-9+.-]+:)/i.test(path)
    ? path
    : `${folder.replace(/\/$/, '')}/${path}`

/** With what the whole scan ended, or `""`. */
const reasonIn = (invocation: unknown): string => {
  const code = asText(at(invocation, 'exitCode'))
  const said = ['exitCodeDescription', 'processStartFailureMessage', 'exitSignalName', 'exitSignalNumber']
    .map((name) => asText(at(invocation, name)))
    .find((text) => text !== '')
  return `${code === '' || code === '0' ? '' : ` with exit code ${code}`}${said === undefined ? '' : `: ${said}`}`
}

const reasonOf = (invocation: unknown, tool: string): string =>
  `${tool || 'the tool'} failed${reasonIn(invocation)}`
