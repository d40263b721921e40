import { createHmac, timingSafeEqual } from 'node:crypto'

const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url')

export interface LoginClaims {
  /** Id of the user. */
  readonly sub: string
  readonly name: string
  /** `passwordMark` at the time of the login: another password ends it. */
  readonly mark: string
  /** Seconds since 1970. */
  readonly iat: number
  readonly exp: number
}

const sign = (content: string, key: Uint8Array): Buffer => createHmac('sha256', key).update(content).digest()

/** A JSON Web Token, HS256. It names the user only: what that user may do is looked up when it is used. */
export const signLogin = (claims: LoginClaims, key: Uint8Array): string => {
  const content = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${content}.${sign(content, key).toString('base64url')}`
}

export const looksLikeLogin = (token: string): boolean => token.split('.').length === 3

/** The claims of a token that this farm signed and that is still good at `now` (ms), else undefined. */
export const verifyLogin = (token: string, key: Uint8Array, now: number): LoginClaims | undefined => {
  const [header, payload, signature] = token.split('.')
  if (payload === undefined || signature === undefined) return undefined
  const expected = sign(`${header}.${payload}`, key)
  const actual = Buffer.from(signature, 'base64url')
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined
  // Only headers that we wrote ourselves carry our signature; other algorithms never get this far.
  if (header !== HEADER) return undefined
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as LoginClaims
  return claims.exp * 1000 > now ? claims : undefined
}
