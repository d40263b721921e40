import { hash } from 'node:crypto'
import { errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'

export interface LoginClaims extends JWTPayload {
  /** Id of the user. */
  readonly sub: string
  readonly name: string
  /** `passwordMark` at the time of the login: a new password invalidates the token. */
  readonly mark: string
  /** Seconds since 1970. */
  readonly iat: number
  readonly exp: number
}

/** A JSON Web Token, HS256. It identifies the user only: the role is looked up for each request. */
export const signLogin = (claims: LoginClaims, key: Uint8Array): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(key)

/**
 * Identifies a login token in the list of revoked ones. Without the signature: its last character has unused bits, so
 * that one signature has several forms.
 */
export const loginHash = (token: string): string => hash('sha256', token.slice(0, token.lastIndexOf('.')))

export const looksLikeLogin = (token: string): boolean => token.split('.').length === 3

/** The claims of a token that this farm signed and that has not expired at `now`; undefined otherwise. */
export const verifyLogin = async (
  token: string,
  key: Uint8Array,
  now: Date,
): Promise<LoginClaims | undefined> => {
  const expected = { algorithms: ['HS256'], typ: 'JWT', requiredClaims: ['exp'], currentDate: now }
  try {
    return (await jwtVerify<LoginClaims>(token, key, expected)).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
