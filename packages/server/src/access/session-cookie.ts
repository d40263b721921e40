import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '@scanfarm/contracts'

const COOKIE = 'scanfarm_session'
const PAIR = new RegExp(`(?:^|;)\\s*${COOKIE}=([\\w-]{43})\\s*(?:;|$)`)

/** The secret of a session in the cookie header. */
export const sessionSecretOf = ({ cookie = '' }: IncomingHttpHeaders): string | undefined =>
  PAIR.exec(cookie)?.[1]

/** A cookie that scripts cannot read and that no other site can send. */
const cookieOf = (value: string, seconds: number, secure: boolean): string =>
  `${COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

export const sessionCookie = (secret: string, expiresAt: string, secure: boolean): string =>
  cookieOf(secret, Math.max(0, Math.floor((Date.parse(expiresAt) - Date.now()) / 1000)), secure)

export const clearedCookie = (secure: boolean): string => cookieOf('', 0, secure)

/** `none`: the user opened the address, for example from a bookmark. */
const OWN_SITES = new Set(['same-origin', 'none'])
const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What tells where a request of a browser comes from. */
export interface Sent {
  readonly headers: IncomingHttpHeaders
  /** Host and port of this server as the browser wrote them, also behind a proxy of `http.trust_proxy`. */
  readonly host: string
}

/**
 * Refuses what a page of another origin made the browser send. SameSite does not distinguish ports of one host, and
 * browsers send Sec-Fetch-Site only over https and to loopback.
 */
export const refuseOtherOrigins = ({ headers, host }: Sent): void => {
  const { 'sec-fetch-site': site, origin } = headers
  const isOwnSite = site === undefined || (typeof site === 'string' && OWN_SITES.has(site))
  if (isOwnSite && (origin === undefined || isOrigin(origin, host))) return
  throw new AppError(
    'forbidden',
    'a page of another origin sent this request; only the console of this server may use the login of this browser ' +
      '(behind a proxy: it must pass the header Host on)',
  )
}

/** The scheme is not compared: a proxy may have added TLS. */
const isOrigin = (origin: string, host: string): boolean => {
  if (!URL.canParse(origin)) return false
  const { protocol, host: sender } = new URL(origin)
  const own = `${protocol}//${host}`
  return URL.canParse(own) && new URL(own).host === sender
}

/** Refuses requests with the cookie that another page may have sent. */
export const refuseOtherSites = (method: string, sent: Sent): void => {
  refuseOtherOrigins(sent)
  if (!READS.has(method) && sent.headers['x-scanfarm-console'] !== '1')
    throw new AppError(
      'forbidden',
      'with the login of a browser, requests that change something need the header "X-Scanfarm-Console: 1"',
    )
}
