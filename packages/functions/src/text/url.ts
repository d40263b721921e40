import { basename } from 'node:path/posix'
import { isIP } from 'node:net'
import { domainParts, isCidr } from '../network/target.ts'
import { local, NoResult, type FunctionContext, type FunctionGroup, type Run } from '../define.ts'
import { filePath, mustBeFile, programPath, writeLines } from '../files/files.ts'
import { interestingLines } from './interesting-urls.ts'
import { Distinct, linesOf } from '../files/lines.ts'
import { escapePath, queryPairs, queryText, urlParts, urlText, type UrlParts } from './url-parts.ts'

interface NameParts {
  readonly subdomain: string
  /** Without the suffix: `example`. */
  readonly root: string
  /** With it. */
  readonly registered: string
  readonly suffix: string
}

/** The parts of a host name as written, by the public suffix list. */
const nameParts = (host: string): NameParts => {
  const labels = host.split('.')
  if (labels.length === 1 || isIP(host) !== 0 || isCidr(host))
    return { subdomain: '', root: host, registered: host, suffix: '' }
  const known = domainParts(host).tld
  const count = known === '' ? 1 : known.split('.').length
  const at = Math.max(0, labels.length - count - 1)
  const suffix = labels.slice(-count).join('.')
  const root = labels.length > count ? (labels[at] ?? '') : ''
  return {
    subdomain: labels.slice(0, at).join('.'),
    root,
    registered: root === '' ? suffix : `${root}.${suffix}`,
    suffix,
  }
}

/** Maximum number of characters of a URL that a function returns. */
const MAX_URL = 1 << 22

const bounded = (count: number, longest: number): void => {
  if (count * longest > MAX_URL) throw new Error(`the address would have more than ${MAX_URL} characters`)
}

const extensionOf = (path: string): string => /\.([^.]+)$/.exec(basename(path))?.[1] ?? ''

const directives = (url: UrlParts, host: string): Readonly<Record<string, string>> => {
  const { scheme, user, port, path, query = '', fragment = '' } = url
  const { subdomain, root, registered, suffix } = nameParts(host)
  const userAt = user === '' ? '' : `${user}@`
  return {
    s: scheme, u: user, d: host, S: subdomain, r: root, R: registered, t: suffix, P: port, p: path, e: extensionOf(path), q: query,
    f: fragment, a: `${userAt}${host}${port === '' ? '' : `:${port}`}`, '@': user === '' ? '' : '@', ':': port === '' ? '' : ':',
    '?': query === '' ? '' : '?', '#': fragment === '' ? '' : '#', '%': '%',
  } // prettier-ignore
}

/** A host without a scheme gets https; a network counts as a host. */
const format = (text: string, pattern: string): string => {
  const url = urlParts(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  if (url === undefined || text === '') return ''
  const network = text.replace(/^https?:\/\//, '')
  const values = directives(url, isCidr(network) ? network : url.host)
  bounded(pattern.split('%').length, Math.max(...Object.values(values).map(({ length }) => length)))
  return pattern.replaceAll(/%(.)/gsu, (whole, letter: string) => values[letter] ?? whole)
}

const parentOf = (text: string): string => {
  const url = urlParts(text)
  if (url === undefined) return text
  const path = url.path.replace(/\/$/, '')
  return urlText(url, escapePath(path.slice(0, path.lastIndexOf('/') + 1)) || '/', undefined, undefined)
}

const replaceQuery = (text: string, value: string, mode: string): string => {
  const url = urlParts(text)
  const pairs = queryPairs(url?.query ?? '')
  if (url === undefined || pairs.length === 0) return text
  bounded(pairs.length, value.length)
  const changed = pairs.map(([name, old]) => [name, mode === 'append' ? old + value : value] as const)
  return urlText(url, url.rawPath, queryText(changed), url.fragment)
}

const replacePath = (text: string, value: string, position: number): string => {
  const url = urlParts(text)
  const path = url?.path.replace(/^\//, '') ?? ''
  if (url === undefined || path === '') return text
  const old = path.split('/')
  bounded(position <= 0 ? old.length : 1, value.length)
  const parts = old.map((part, index) => (position <= 0 || index === position - 1 ? value : part))
  return urlText(url, escapePath(`/${parts.join('/')}`), url.query, url.fragment)
}

const eachFormatted = async function* (source: string, pattern: string, at: FunctionContext) {
  for await (const line of linesOf(source, at)) {
    const text = format(line.trim(), pattern)
    if (text !== '') yield text
  }
}

const once = async function* (lines: AsyncIterable<string>) {
  const seen = new Distinct()
  for await (const line of lines) if (seen.add(line)) yield line
}

const formatFile =
  (pick: (lines: AsyncIterable<string>) => AsyncIterable<string>): Run =>
  async (at) => {
    const [source, pattern] = [at.path(0), at.text(1)]
    const dest = await programPath(at, 2, 'write')
    await mustBeFile(source, at)
    if (pattern === '') throw new NoResult('the format is empty')
    await writeLines(dest, pick(eachFormatted(source, pattern, at)), at)
  }

export const URL_FUNCTIONS: FunctionGroup = {
  title: 'URLs',
  functions: [
    local(
      'parse_url(url, format): text',
      'Parts of an address: %s scheme, %u user, %d host, %S subdomain, %r name without suffix, %R with it, %t suffix, %P port, %p path, %e extension, %q query, %f fragment, %a authority; %@ %: %? %# only where the part is there; %% itself.',
      (at) => format(at.text(0), at.text(1)),
    ),
    local(
      'parse_url_file(source, format, dest): bool',
      'Does the same for each line; false if the source does not exist.',
      formatFile((lines) => lines),
    ),
    local(
      'parse_url_file_unique(source, format, dest): bool',
      'The same, with every result once.',
      formatFile(once),
    ),
    local(
      'get_parent_url(url): text',
      'The address one level up, with a slash at its end and without query and fragment.',
      (at) => (at.text(0) === '' ? '' : parentOf(at.text(0))),
    ),
    local(
      'interesting_urls(source, dest, field?): bool',
      'Writes interesting URLs: each host, path and set of parameters once, without images, styles, fonts and videos, and one article or numbered page per host; `field` names the field of JSONL. False if the source does not exist.',
      async (at) => {
        const source = await filePath(at, 0)
        await writeLines(at.path(1), interestingLines(source, at.text(2), at), at)
      },
    ),
    local(
      'query_replace(url, value, mode?): text',
      'Puts a value into every parameter, sorted by name; mode `append` adds it.',
      (at) => replaceQuery(at.text(0), at.text(1), at.text(2, 'replace')),
    ),
    local(
      'path_replace(url, value, position?): text',
      'Puts a value in place of a part of the path, counted from 1, the first by default; 0 means every part.',
      (at) => replacePath(at.text(0), at.text(1), Math.trunc(at.number(2, 1))),
    ),
  ],
}
