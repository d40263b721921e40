import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { basename } from 'node:path'
import type { parse as Parse } from 'tldts'

/** Loaded when it is needed: it contains the whole public suffix list. */
const suffixList = (): { readonly parse: typeof Parse } =>
  (list ??= createRequire(import.meta.url)('tldts') as { parse: typeof Parse })
let list: { readonly parse: typeof Parse } | undefined

const MAX_SPACE = 128
const HASH_CHARS = 12
const LOOKS_HASHED = /-[0-9a-f]{12}$/

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS)

/**
 * A target as the name of a folder: readable, safe, deterministic, and different for different targets. A
 * hash is added if characters are left out, and to names that look as if they had one.
 */
export const targetSpace = (target: string): string => {
  const safe = target
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
  if (safe === target && safe.length <= MAX_SPACE && !LOOKS_HASHED.test(safe)) return safe
  return `${safe.slice(0, MAX_SPACE - HASH_CHARS - 1) || 'target'}-${hashOf(target)}`
}

export interface DomainParts {
  readonly root: string
  readonly tld: string
  readonly sld: string
}

/** The registered domain of a host name by the public suffix list, or the name itself if there is none. */
export const domainParts = (host: string): DomainParts => {
  const { domain, publicSuffix, domainWithoutSuffix } = suffixList().parse(host, {
    allowPrivateDomains: false,
  })
  return {
    root: domain ?? host.toLowerCase(),
    tld: publicSuffix ?? '',
    sld: domainWithoutSuffix ?? host.toLowerCase(),
  }
}

const HOST = /^(?=.{1,253}$)(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}\.?$/i

/** A target that is a file or folder on the worker's machine; its text is an absolute path. */
export type LocalTarget = 'file' | 'folder'

export type TargetType = LocalTarget | 'url' | 'cidr' | 'ip' | 'domain' | 'unknown'

export const isCidr = (text: string): boolean => {
  const [address = '', bits = '', ...more] = text.split('/')
  const family = isIP(address)
  return (
    more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  )
}

const WEB = /^https?:\/\//i

/** `example.com/login` is a URL without its scheme. */
const withScheme = (target: string): string => (WEB.test(target) ? target : `https://${target}`)

const isUrl = (target: string): boolean => {
  if (WEB.test(target)) return URL.canParse(target)
  const host = target.replace(/\/.*$/, '').replace(/:\d{1,5}$/, '')
  return target.includes('/') && HOST.test(host) && isKnownDomain(host) && URL.canParse(withScheme(target))
}

/** Whether a name ends in a suffix under which domains can be registered: `list.txt` does not. */
export const isKnownDomain = (name: string): boolean => {
  const { isIcann, domain } = suffixList().parse(name, { allowPrivateDomains: false })
  return isIcann === true && domain !== null
}

export const targetType = (target: string, local?: LocalTarget): TargetType => {
  if (local !== undefined) return local
  if (isCidr(target)) return 'cidr'
  if (isUrl(target)) return 'url'
  if (isIP(target.replaceAll(/^\[|\]$/g, '')) !== 0) return 'ip'
  if (HOST.test(target)) return 'domain'
  return 'unknown'
}

const REPOSITORY_HOSTS = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org', 'gitea.com'])
/** The boundary between the path of a repository and that of a page in it. */
const PAGE = /\/(archive|releases|raw|blob|tree|commit|pull|issues|-)\/.*$/i

const repositorySlug = (host: string, path: string): Record<string, string> => {
  const parts = path
    .replace(PAGE, '')
    .split('/')
    .filter((part) => part !== '')
  if (!REPOSITORY_HOSTS.has(host.replace(/^www\./, '')) || parts.length < 2) return {}
  return { TargetRepoSlug: parts.join('__').replace(/\.git$/, '') }
}

const urlVariables = (target: string): Record<string, string> => {
  const base = withScheme(target)
  const url = new URL(base)
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  const host = url.hostname.replaceAll(/^\[|\]$/g, '')
  // An explicit default port is kept.
  const given = /^[^/?#]*:(\d+)(?=[/?#]|$)/.exec(base.replace(WEB, ''))?.[1]
  return {
    TargetBaseURL: base,
    TargetRootURL: url.origin,
    TargetHostname: given === undefined ? url.hostname : `${url.hostname}:${given}`,
    TargetHost: host,
    TargetPort: port,
    TargetPath: url.pathname.replace(/\/[^/]*$/, '') || '/',
    TargetFileExt: url.pathname.replace(/^.*\//, ''),
    TargetScheme: url.protocol.slice(0, -1),
    ...(isIP(host) === 0 ? hostVariables(host) : { TargetRootDomain: host }),
    ...repositorySlug(host, url.pathname),
  }
}

const hostVariables = (host: string): Record<string, string> => {
  const { root, tld, sld } = domainParts(host.replace(/^\*\./, ''))
  return { TargetRootDomain: root, TargetTLD: tld, TargetSLD: sld, Org: sld }
}

/** The prefix of the name of an upload, which makes it unique. */
const UPLOAD_ID = /^[0-9a-f]{16}-/

/** Converts `my_list.txt` to a name: `my-list-file`. */
const localName = (path: string, local: LocalTarget): string => {
  const name = basename(path).replace(UPLOAD_ID, '')
  return `${(local === 'file' ? name.replace(/(?<=.)\.[^.]*$/, '') : name).replaceAll('_', '-')}-${local}`
}

/** The workspace of a file or folder: its name, and a suffix that distinguishes it from others of that name. */
export const localSpace = (path: string, local: LocalTarget): string =>
  `${localName(path, local)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .slice(-(MAX_SPACE - HASH_CHARS - 1))
    .replace(/^[._-]+/, '')}-${hashOf(path)}`

/** Variables that follow from the text of the target. */
export const targetVariables = (target: string, local?: LocalTarget): Record<string, string> => {
  if (target === '') return {}
  if (local !== undefined) return { TargetType: local, TargetRootDomain: localName(target, local) }
  const type = targetType(target)
  const common = { TargetType: type }
  switch (type) {
    case 'url':
      return { ...common, ...urlVariables(target) }
    case 'domain':
      return { ...common, TargetHost: target, ...hostVariables(target) }
    case 'ip':
      return { ...common, TargetHost: target, TargetRootDomain: target }
    default:
      return common
  }
}
