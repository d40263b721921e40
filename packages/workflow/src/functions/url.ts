import { extname } from 'node:path/posix'
import { domainParts } from '../execute/target.ts'
import type { Json } from '../model.ts'
import { fn, numberArg, textArg, type FunctionGroup } from './define.ts'
import { fieldOf, parseObject } from './jsonl.ts'
import { pathArg, writeLines } from './files.ts'
import { Distinct, linesOf } from './lines.ts'
import type { RunPlace } from './allowed.ts'

const parsed = (text: string): URL | undefined => {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  return URL.canParse(withScheme) ? new URL(withScheme) : undefined
}

const directive = (url: URL, letter: string): string => {
  const { hostname: host, port, pathname, search, hash, username, password } = url
  const { root, tld } = domainParts(host)
  const user = password === '' ? username : `${username}:${password}`
  const values: Readonly<Record<string, string>> = {
    s: url.protocol.slice(0, -1),
    u: user,
    d: host,
    S: host === root ? '' : host.slice(0, -root.length - 1),
    r: root,
    t: tld,
    P: port,
    p: pathname,
    e: extname(pathname).slice(1),
    q: search.slice(1),
    f: hash.slice(1),
    a: `${user === '' ? '' : `${user}@`}${url.host}`,
    '@': user === '' ? '' : '@',
    ':': port === '' ? '' : ':',
    '?': search === '' ? '' : '?',
    '#': hash === '' ? '' : '#',
    '%': '%',
  }
  return values[letter] ?? `%${letter}`
}

const format = (text: string, pattern: string): string => {
  const url = parsed(text)
  return url === undefined ? '' : pattern.replaceAll(/%(.)/g, (_, letter: string) => directive(url, letter))
}

const STATIC = /\.(png|jpe?g|gif|svg|ico|webp|bmp|css|woff2?|ttf|eot|otf|mp[34]|avi|mov|webm|pdf)$/i
const INTERESTING =
  /[?&][^=]+=|\.(php|aspx?|jspx?|do|action|cgi|json|xml|ya?ml|env|bak|old|sql|conf|log|git)(\W|$)|\/(api|admin|login|upload|graphql|debug|config|internal|v\d)(\/|$|\?)/i

/** The path and the names of its parameters: what makes two addresses the same kind. */
const shapeOf = (url: URL): string =>
  `${url.host}${url.pathname.replaceAll(/\d+/g, '0')}?${[...url.searchParams.keys()].sort().join('&')}`

const interesting = async function* (source: string, field: string, place: RunPlace): AsyncGenerator<string> {
  const seen = new Distinct()
  for await (const line of linesOf(source, place)) {
    const row = field === '' ? undefined : parseObject(line)
    const value: Json | undefined = row === undefined ? line.trim() : fieldOf(row, field)
    const url = typeof value === 'string' ? parsed(value) : undefined
    if (url === undefined || STATIC.test(url.pathname) || !INTERESTING.test(`${url.pathname}${url.search}`))
      continue
    const shape = shapeOf(url)
    if (!seen.add(shape)) continue
    yield row === undefined ? line.trim() : line
  }
}

const replaceQuery = (text: string, value: string, mode: string): string => {
  const url = parsed(text)
  if (url === undefined) return text
  const change = (old: string) => (mode === 'append' ? old + value : value)
  const query = [...url.searchParams].map(
    ([key, old]) => `${encodeURIComponent(key)}=${encodeURIComponent(change(old))}`,
  )
  url.search = ''
  return query.length === 0 ? url.href : url.href.replace(/(#.*)?$/, (hash) => `?${query.join('&')}${hash}`)
}

const replacePath = (text: string, value: string, position: number): string => {
  const url = parsed(text)
  if (url === undefined) return text
  const parts = url.pathname.split('/').slice(1)
  const at = position <= 0 ? parts.length - 1 : position - 1
  url.pathname = `/${parts.map((part, index) => (index === at ? encodeURIComponent(value) : part)).join('/')}`
  return url.href
}

export const URL_FUNCTIONS: FunctionGroup = {
  title: 'URLs',
  functions: [
    fn(
      'parse_url(url, format)',
      'text',
      'Parts of an address: %s scheme, %u user, %d host, %S subdomain, %r registered domain, %t suffix, %P port, %p path, %e extension, %q query, %f fragment, %a authority; %@ %: %? %# only where the part is there; %% itself.',
      (args) => format(textArg(args, 0), textArg(args, 1)),
    ),
    fn(
      'parse_url_file(source, format, dest)',
      'number',
      'The same for each line; every result once.',
      async (args, at) => {
        const seen = new Distinct()
        const lines = async function* () {
          for await (const line of linesOf(pathArg(args, 0, at), at)) {
            const text = line.trim() === '' ? '' : format(line.trim(), textArg(args, 1))
            if (text === '' || !seen.add(text)) continue
            yield text
          }
        }
        return await writeLines(pathArg(args, 2, at), lines(), at)
      },
    ),
    fn('get_parent_url(url)', 'text', 'The address one level up, with a slash at its end.', (args) => {
      const url = parsed(textArg(args, 0))
      if (url === undefined) return ''
      return `${url.origin}${url.pathname.replace(/[^/]*\/?$/, '') || '/'}`
    }),
    fn(
      'interesting_urls(source, dest, field?)',
      'number',
      'Writes addresses worth a look (with parameters, scripts, APIs), each kind once, pictures and styles left out; `field` names the field of JSONL.',
      async (args, at) =>
        await writeLines(pathArg(args, 1, at), interesting(pathArg(args, 0, at), textArg(args, 2), at), at),
    ),
    fn(
      'query_replace(url, value, mode?)',
      'text',
      'Puts a value into every parameter; mode `append` adds it.',
      (args) => replaceQuery(textArg(args, 0), textArg(args, 1), textArg(args, 2, 'replace')),
    ),
    fn(
      'path_replace(url, value, position?)',
      'text',
      'Puts a value in place of a part of the path, counted from 1; the last by default.',
      (args) => replacePath(textArg(args, 0), textArg(args, 1), numberArg(args, 2, 0)),
    ),
  ],
}
