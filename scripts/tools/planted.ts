import type { ServiceName } from './lab.ts'
import { MISTAKES, type SiteName } from './sites.ts'

/** Something in the lab that a tool must find. */
export interface Planted {
  readonly tool: string
  readonly service: ServiceName
  /** `vuln_info` of a finding; for assets `service NAME`, `technology NAME` or `content PATH`. */
  readonly key: string
  readonly severity?: string
}

const of =
  (tool: string, service: ServiceName) =>
  (keys: readonly (string | readonly [key: string, severity: string])[]): Planted[] =>
    keys.map((key) =>
      typeof key === 'string' ? { tool, service, key } : { tool, service, key: key[0], severity: key[1] },
    )

const HEADERS_MISSING = [
  ['wapiti-content-security-policy-configuration-CSP', 'low'],
  ['wapiti-http-secure-headers-X-Frame-Options', 'low'],
  ['wapiti-http-secure-headers-X-XSS-Protection', 'low'],
  ['wapiti-http-secure-headers-X-Content-Type-Options', 'low'],
  ['wapiti-http-secure-headers-Strict-Transport-Security', 'low'],
] as const

/**
 * All that the lab has: what else is found is wrong. Services without a line here, and those with lines for services,
 * technologies and well-known files only, are the ones on which nothing may be found.
 */
export const PLANTED: readonly Planted[] = [
  ...of('nmap', 'careless')(['service http', ['http-git', 'medium']]),
  ...of('whatweb', 'careless')(['technology nginx']),
  ...of(
    'ffuf',
    'careless',
  )([
    'content /.env',
    'content /.git/HEAD',
    'content /.git/config',
    'content /admin/',
    'content /backup.zip',
    'content /files/',
  ]),
  ...of(
    'content',
    'careless',
  )([
    ['content-admin-page', 'medium'],
    ['content-directory-listing', 'medium'],
    ['content-env-file', 'critical'],
    ['content-git-repository', 'high'],
    ['content-site-archive', 'high'],
  ]),
  ...of('wapiti', 'careless')([...HEADERS_MISSING, ['wapiti-backup-file', 'low']]),

  ...of('nmap', 'careful')(['service http']),
  ...of('whatweb', 'careful')(['technology nginx']),

  ...of('nmap', 'app')(['service cslistener?']),
  ...of(
    'wapiti',
    'app',
  )([
    ...HEADERS_MISSING,
    ['wapiti-command-execution-host', 'critical'],
    ['wapiti-cross-site-scripting-q', 'medium'],
    ['wapiti-httponly-flag-cookie-session', 'low'],
    ['wapiti-open-redirect-to', 'low'],
    ['wapiti-path-traversal-name', 'critical'],
    ['wapiti-secure-flag-cookie-session', 'low'],
    ['wapiti-sql-injection-id', 'critical'],
  ]),

  ...of('nmap', 'old-tls')(['service ssl/http']),
  ...of('whatweb', 'old-tls')(['technology nginx']),
  ...of(
    'sslscan',
    'old-tls',
  )([
    ['sslscan-tls10', 'low'],
    ['sslscan-tls11', 'low'],
    ['sslscan-cipher-anonymous', 'critical'],
    ['sslscan-cert-self-signed', 'medium'],
    ['sslscan-cert-weak-key', 'medium'],
    ['sslscan-cert-weak-signature', 'medium'],
  ]),

  ...of('nmap', 'expired-tls')(['service ssl/http', ['ssl-cert', 'medium']]),
  ...of('whatweb', 'expired-tls')(['technology nginx']),
  ...of('sslscan', 'expired-tls')([['sslscan-cert-expired', 'medium']]),

  ...of('nmap', 'good-tls')(['service ssl/http']),
  ...of('whatweb', 'good-tls')(['technology nginx']),

  ...of('nmap', 'ssh')(['service ssh']),
  ...of('nmap', 'ftp')(['service ftp', ['ftp-anon', 'medium']]),
  ...of('nmap', 'smtp')(['service smtp']),
  ...of(
    'sslscan',
    'smtp',
  )([
    ['sslscan-tls10', 'low'],
    ['sslscan-tls11', 'low'],
    ['sslscan-cert-self-signed', 'medium'],
  ]),
  ...of('nmap', 'redis')(['service redis', ['redis-info', 'critical']]),
  ...of('nmap', 'closed-redis')(['service redis']),
  ...of('nmap', 'dns')(['service domain']),
  ...of('nmap', 'closed-ftp')(['service ftp']),
  ...of('nmap', 'memcached')(['service memcached', ['memcached-info', 'high']]),
  ...of('nmap', 'writable-ftp')(['service ftp', ['ftp-anon', 'high']]),
  ...of('nmap', 'closed-rsync')(['service rsync']),
  ...of('nmap', 'mqtt')(['service mosquitto', ['mqtt-subscribe', 'medium']]),
  ...of('nmap', 'closed-mqtt')(['service mqtt']),
  ...of('nmap', 'telnet')(['service telnet', ['service-telnet', 'medium']]),

  ...of('nmap', 'login')(['service http']),
  ...of('whatweb', 'login')(['technology nginx']),
  ...of('ffuf', 'login')(['content /admin/']),
  ...of('nmap', 'single-page')(['service http']),
  ...of('whatweb', 'single-page')(['technology nginx']),
  ...Object.entries(MISTAKES).flatMap(([site, [check, severity, path]]) => {
    const name = site as SiteName
    return [
      ...of('nmap', name)(['service http']),
      ...of('whatweb', name)(['technology nginx']),
      ...of(
        'ffuf',
        name,
      )(site === 'actuator' ? ['content /actuator', `content ${path}`] : [`content ${path}`]),
      ...of('content', name)([[`content-${check}`, severity]]),
    ]
  }),
]

/** What makes a service weak. */
const isWeakness = ({ severity }: Planted): boolean => severity !== undefined
export const WEAK: readonly ServiceName[] = [
  ...new Set(PLANTED.filter(isWeakness).map(({ service }) => service)),
]
export const CLEAN: readonly ServiceName[] = [
  ...new Set(PLANTED.map(({ service }) => service).filter((service) => !WEAK.includes(service))),
]
