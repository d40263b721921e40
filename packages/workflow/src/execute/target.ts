import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { parse } from 'tldts'

const MAX_SPACE = 128
const HASH_CHARS = 12
const LOOKS_HASHED = /-[0-9a-f]{12}$/

/**
 * A target as the name of a folder: readable, safe, the same every time, and different for different targets. A
 * hash is added whenever something had to be left out, and to names that look as if they had one.
 */
export const targetSpace = (target: string): string => {
  const safe = target
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
  if (safe === target && safe.length <= MAX_SPACE && !LOOKS_HASHED.test(safe)) return safe
  const hash = createHash('sha256').update(target).digest('hex').slice(0, HASH_CHARS)
  return `${safe.slice(0, MAX_SPACE - HASH_CHARS - 1) || 'target'}-${hash}`
}

export interface DomainParts {
  readonly root: string
  readonly tld: string
  readonly sld: string
}

/** The registered domain of a host name, by the public suffix list; the name itself where there is none. */
export const domainParts = (host: string): DomainParts => {
  const { domain, publicSuffix, domainWithoutSuffix } = parse(host, { allowPrivateDomains: false })
  return {
    root: domain ?? host.toLowerCase(),
    tld: publicSuffix ?? '',
    sld: domainWithoutSuffix ?? host.toLowerCase(),
  }
}

const HOST = /^(?=.{1,253}$)(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}\.?$/i

export type TargetType = 'url' | 'cidr' | 'ip' | 'domain' | 'unknown'

export const isCidr = (text: string): boolean => {
  const [address = '', bits = '', ...more] = text.split('/')
  const family = isIP(address)
  return (
    more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  )
}

export const targetType = (target: string): TargetType => {
  if (/^https?:\/\//i.test(target) && URL.canParse(target)) return 'url'
  if (isCidr(target)) return 'cidr'
  if (isIP(target.replaceAll(/^\[|\]$/g, '')) !== 0) return 'ip'
  if (HOST.test(target)) return 'domain'
  return 'unknown'
}

const REPOSITORY_HOSTS = /(^|\.)(github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|gitea\.com)$/

const urlVariables = (target: string): Record<string, string> => {
  const url = new URL(target)
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  const host = url.hostname.replaceAll(/^\[|\]$/g, '')
  const [owner, repository] = url.pathname.split('/').filter((part) => part !== '')
  const slug: Record<string, string> =
    REPOSITORY_HOSTS.test(host) && owner !== undefined && repository !== undefined
      ? { TargetRepoSlug: `${owner}__${repository.replace(/\.git$/, '')}` }
      : {}
  return {
    TargetBaseURL: `${url.origin}${url.pathname}`.replace(/\/$/, ''),
    TargetRootURL: url.origin,
    TargetHostname: url.host,
    TargetHost: host,
    TargetPort: port,
    TargetPath: url.pathname,
    TargetFileExt: url.pathname.replace(/^.*\//, ''),
    TargetScheme: url.protocol.slice(0, -1),
    ...(isIP(host) === 0 ? hostVariables(host) : { TargetRootDomain: host }),
    ...slug,
  }
}

const hostVariables = (host: string): Record<string, string> => {
  const { root, tld, sld } = domainParts(host.replace(/^\*\./, ''))
  return { TargetRootDomain: root, TargetTLD: tld, TargetSLD: sld, Org: sld }
}

/** What can be told of a target by looking at it alone. */
export const targetVariables = (target: string): Record<string, string> => {
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
