import { readFileSync } from 'node:fs'
import { AppError, closest, compile } from '@scanfarm/contracts'
import { ConfigError, fileErrorText } from '@scanfarm/platform'
import { isNode, LineCounter, parseDocument, type Document } from 'yaml'
import { ToolError } from './errors.ts'
import { ManifestFile, type Entry } from './schema.ts'

/** A program, or data for one, that workflows need. */
export interface Tool extends Entry {
  readonly name: string
}

export type Manifest = ReadonlyMap<string, Tool>

const MAX_BYTES = 1024 * 1024

const parse = compile(ManifestFile, { subject: 'manifest' })

const groupsOf = (pattern: string): number => (new RegExp(`${pattern}|`).exec('')?.length ?? 1) - 1

const patternProblem = (pattern: string): string | undefined => {
  try {
    return groupsOf(pattern) > 0 ? undefined : 'must have a group: the version, as in `version (\\S+)`'
  } catch {
    return 'is not a regular expression'
  }
}

type Problem = readonly [path: string, message: string]

/** What the schema cannot express. */
const entryProblems = ({ debian, release, ask, limit, facts }: Entry): Problem[] => {
  const problems: Problem[] = []
  if ((debian === undefined) === (release === undefined))
    problems.push(['', 'must have either `debian` or `release`'])
  if (release !== undefined && (release.program === undefined) === (release.folder === undefined))
    problems.push(['release', 'must have either `program` or `folder`'])
  if (release !== undefined && !/\.(?:zip|tar\.gz|tgz)$/.test(release.url))
    problems.push(['release.url', 'must end with .zip, .tar.gz or .tgz'])
  if (release?.sha256.any !== undefined && release.url.includes('{arch}'))
    problems.push([
      'release.sha256.any',
      'is for files that are the same for all architectures: the URL has {arch}',
    ])
  if (release?.folder === undefined && ask === undefined)
    problems.push(['', 'must have `ask`: how the program prints its version'])
  if (facts?.rate !== undefined && limit === undefined)
    problems.push(['facts.rate', 'was measured with `limit`, which is missing'])
  const pattern = ask === undefined ? undefined : patternProblem(ask.pattern)
  if (pattern !== undefined) problems.push(['ask.pattern', pattern])
  return problems
}

/** `file:line: path: message`, with the line of the nearest part of the path that exists. */
const reporter =
  (file: string, document: Document, lines: LineCounter) =>
  (path: readonly string[], message: string): string => {
    const nodes = path.map((_, index) => document.getIn(path.slice(0, index + 1), true))
    const nearest = nodes.findLast((node) => isNode(node) && node.range)
    const line = isNode(nearest) && nearest.range ? `:${lines.linePos(nearest.range[0]).line}` : ''
    return [`${file}${line}`, ...(path.length > 0 ? [path.join('.')] : []), message].join(': ')
  }

/** Reads a manifest; `file` is its name in errors. Throws a `ConfigError` that lists all problems. */
export const parseManifest = (text: string, file: string): Manifest => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  if (document.errors.length > 0)
    throw new ConfigError(
      document.errors.map(({ pos, message }) => `${file}:${lines.linePos(pos[0]).line}: ${message}`),
    )
  const report = reporter(file, document, lines)
  let content: ManifestFile
  try {
    content = parse(document.toJS({ maxAliasCount: 0 }))
  } catch (error) {
    if (!(error instanceof AppError)) throw new ConfigError([`${file}: ${String(error)}`])
    throw new ConfigError(error.details.map(({ path, message }) => report(path.split('/').slice(1), message)))
  }
  const tools = Object.entries(content.tools).map(([name, entry]) => ({ ...entry, name }))
  const problems = tools.flatMap((tool) =>
    entryProblems(tool).map(([path, message]) =>
      report(['tools', tool.name, ...path.split('.').filter((part) => part !== '')], message),
    ),
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return new Map(tools.map((tool) => [tool.name, tool]))
}

const readText = (file: string): string => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError([`the manifest of tools ${file} cannot be read: ${fileErrorText(error)}`])
  }
  if (text.length > MAX_BYTES) throw new ConfigError([`${file}: a manifest has at most ${MAX_BYTES} bytes`])
  return text
}

export const readManifestFile = (file: string): Manifest => parseManifest(readText(file), file)

/** The tools of these names and those that they need, in this order. Throws a `ToolError` that names unknown ones. */
export const selectTools = (manifest: Manifest, names: Iterable<string>): Tool[] => {
  const selected = new Map<string, Tool>()
  const add = (name: string, by: string): void => {
    if (selected.has(name)) return
    const tool = manifest.get(name)
    if (tool === undefined) {
      const meant = closest(name, new Set(manifest.keys()))
      const hint = meant === undefined ? 'list them with `scanfarm tools list`' : `did you mean ${meant}?`
      throw new ToolError(`the manifest has no tool ${name}${by}: ${hint}`)
    }
    selected.set(name, tool)
    for (const needed of tool.needs ?? []) add(needed, `, which ${name} needs`)
  }
  for (const name of names) add(name, '')
  return [...selected.values()]
}
