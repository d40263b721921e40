import { asList, asText, asTexts, at, isRecord } from '../../fields.ts'
import { spelled } from '../paths.ts'
import { isList, jsonReport } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { asset, unusable } from '../records.ts'
import { serverTechnology } from '../technologies.ts'

/** Plugins that report a property of the response, not a technology. */
const NO_TECHNOLOGIES: ReadonlySet<string> = new Set([
  'Access-Control-Allow-Methods',
  'Allow',
  'Cookies',
  'Content-Language',
  'Country',
  'Email',
  'Frame',
  'HTML5',
  'HttpOnly',
  'IP',
  'Index-Of',
  'Meta-Author',
  'Meta-Refresh-Redirect',
  'MetaGenerator',
  'Open-Graph-Protocol',
  'PasswordField',
  'RedirectLocation',
  'Script',
  'Strict-Transport-Security',
  'Title',
  'UncommonHeaders',
  'WWW-Authenticate',
  'X-Frame-Options',
  'X-Powered-By',
  'X-UA-Compatible',
  'X-XSS-Protection',
])

/** A list, or lines of answers. */
const isAnswer: typeof isList = (part) => isList(part) || at(part.value, 'plugins') !== undefined

/** The list itself; old versions end it with an empty object. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && Object.keys(value ?? {}).length === 0

/** Reads the answers of web servers as assets, with the same identity as those of httpx. */
export async function* whatwebAssets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let isVerbose = false
  for await (const part of jsonReport(body, isAnswer, '', '[]')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (isEmpty(part.value)) continue
    else if (isRecord(part.value)) yield* assetsOf(part.value, part.line)
    else if (!isVerbose) {
      isVerbose = true
      yield unusable('it is not an answer of whatweb: use --log-json, not --log-json-verbose', part.line)
    }
  }
}

function* assetsOf(answer: unknown, line: number): Generator<Imported> {
  const target = spelled(asText(at(answer, 'target')))
  const plugins = at(answer, 'plugins')
  if (!URL.canParse(target) || !isRecord(plugins)) {
    yield unusable('it is not an answer of whatweb (--log-json): target or plugins is missing', line)
    return
  }
  const { hostname, protocol, origin, pathname, search } = new URL(target)
  const plugin = (name: string): string => asText(asList(at(plugins, name, 'string'))[0])
  yield { kind: 'reached', host: hostname }
  yield asset({
    asset_type: 'http',
    asset_value: hostname,
    url: pathname === '/' && search === '' ? origin : target,
    host_ip: plugin('IP'),
    scheme: protocol.slice(0, -1),
    status_code: at(answer, 'http_status'),
    title: plugin('Title'),
    technologies: Object.entries(plugins)
      .filter(([name]) => !NO_TECHNOLOGIES.has(name))
      .flatMap(([name, found]) => technologies(name, found)),
    raw_json_data: JSON.stringify(answer),
  })
}

/** `name:version`, like httpx. */
const technologies = (name: string, found: unknown): string[] => {
  if (name === 'HTTPServer') return asTexts(at(found, 'string')).map(serverTechnology)
  const versions = asTexts(at(found, 'version'))
  return versions.length === 0 ? [name] : versions.map((version) => `${name}:${version}`)
}
