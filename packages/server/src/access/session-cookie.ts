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

/** Refuses what a page of another origin made the browser send. SameSite does not tell ports of one host apart. */
export const refuseOtherOrigins = ({ 'sec-fetch-site': site }: IncomingHttpHeaders): void => {
  if (site !== undefined && !(typeof site === 'string' && OWN_SITES.has(site)))
    throw new AppError(
      'forbidden',
      'a page of another origin sent this request; only the console of this server may use the login of this browser',
    )
}

/** Refuses requests with the cookie that another page may have sent. */
export const refuseOtherSites = (method: string, headers: IncomingHttpHeaders): void => {
  refuseOtherOrigins(headers)
  if (!READS.has(method) && headers['x-scanfarm-console'] !== '1')
    throw new AppError(
      'forbidden',
      'with the login of a browser, requests that change something need the header "X-Scanfarm-Console: 1"',
    )
}
