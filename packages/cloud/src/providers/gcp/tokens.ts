import { sign } from 'node:crypto'
import { boundedText } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { Type, type Static } from 'typebox'
import { CloudError } from '../../provider.ts'
import { parsedJson, problemOfStatus, property, textOf, unreachable } from '../errors.ts'

export interface Token {
  readonly value: string
  readonly expiresAtMs: number
}

// Parts of files of credentials.
export const Text = Type.String({ minLength: 1 })
export const OptionalText = Type.Optional(Text)

const SCOPE = 'https://www.googleapis.com/auth/compute'
const PLATFORM_SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const LIFETIME_S = 3_600
const MOST_BYTES = 1024 * 1024
/** Of one request. Tokens are shared by calls, so that the signal of one call does not end it. */
const TIMEOUT_MS = 20_000

export const refused = (reason: string): CloudError =>
  new CloudError('credentials', `the credentials for gcp are not valid: ${reason}`)

/** The text of a response of a token or metadata server. Rejects with a CloudError. */
export async function request(url: string, init: RequestInit = {}): Promise<string> {
  let response: Response
  let text: string
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), ...init })
    text = await boundedText(response.body, MOST_BYTES)
  } catch (error) {
    throw unreachable('Google', error)
  }
  if (response.ok) return text
  const body = parsedJson(text)
  const error = property(body, 'error')
  const said = textOf(error) ?? textOf(property(error, 'message')) ?? ''
  const description = textOf(property(body, 'error_description')) ?? ''
  const message = `${new URL(url).host} answers ${response.status}`
  const reason = [message, said, description].filter((part) => part !== '').join(': ')
  if (problemOfStatus(response.status) === 'unavailable') throw new CloudError('unavailable', reason)
  throw refused(reason)
}

const post = async (url: string, fields: Readonly<Record<string, string | undefined>>, headers = {}) => {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return request(url, { method: 'POST', headers, body: new URLSearchParams(given) })
}

/** A response with `access_token` and `expires_in`. */
const tokenOf = (text: string): Token => {
  const answer = parsedJson(text)
  const value = textOf(property(answer, 'access_token'))
  const seconds = property(answer, 'expires_in')
  if (!value) throw refused('the token server sends no access_token')
  return { value, expiresAtMs: Date.now() + (typeof seconds === 'number' ? seconds : LIFETIME_S) * 1_000 }
}

export const ServiceAccount = Type.Object({
  client_email: Text,
  private_key: Text,
  private_key_id: OptionalText,
  token_uri: OptionalText,
})

/** A token for a statement that is signed with the key of the account (RFC 7523). */
export async function serviceAccountToken(account: Static<typeof ServiceAccount>): Promise<Token> {
  const url = account.token_uri ?? 'https://oauth2.googleapis.com/token'
  const now = Math.floor(Date.now() / 1_000)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = { alg: 'RS256', typ: 'JWT', kid: account.private_key_id }
  const claims = { iss: account.client_email, scope: SCOPE, aud: url, iat: now, exp: now + LIFETIME_S }
  const signed = `${part(header)}.${part(claims)}`
  let signature: string
  try {
    signature = sign('RSA-SHA256', Buffer.from(signed), account.private_key).toString('base64url')
  } catch (error) {
    throw refused(`private_key is not a key: ${errorText(error)}`)
  }
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  return tokenOf(await post(url, { grant_type, assertion: `${signed}.${signature}` }))
}

export const User = Type.Object({ client_id: Text, client_secret: Text, refresh_token: Text })

/** A token for a user of the gcloud program. */
export const userToken = async (user: Static<typeof User>): Promise<Token> => {
  const { client_id, client_secret, refresh_token } = user
  const fields = { grant_type: 'refresh_token', client_id, client_secret, refresh_token }
  return tokenOf(await post('https://oauth2.googleapis.com/token', fields))
}

export const ExternalAccount = Type.Object({
  audience: Text,
  subject_token_type: Text,
  token_url: OptionalText,
  service_account_impersonation_url: OptionalText,
  service_account_impersonation: Type.Optional(
    Type.Object({ token_lifetime_seconds: Type.Optional(Type.Integer()) }),
  ),
  client_id: OptionalText,
  client_secret: OptionalText,
  workforce_pool_user_project: OptionalText,
  credential_source: Type.Object({}),
})

/** A token in exchange for one of another identity provider (RFC 8693). */
export async function exchangedToken(
  account: Static<typeof ExternalAccount>,
  subjectToken: string,
): Promise<Token> {
  const { client_id: id, client_secret: secret, workforce_pool_user_project: userProject } = account
  const impersonated = account.service_account_impersonation_url
  const text = await post(
    account.token_url ?? 'https://sts.googleapis.com/v1/token',
    {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: account.audience,
      scope: impersonated === undefined ? SCOPE : PLATFORM_SCOPE,
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: subjectToken,
      subject_token_type: account.subject_token_type,
      options: id === undefined && userProject !== undefined ? JSON.stringify({ userProject }) : undefined,
    },
    id === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`${id}:${secret ?? ''}`).toString('base64')}` },
  )
  if (impersonated === undefined) return tokenOf(text)
  const lifetimeS = account.service_account_impersonation?.token_lifetime_seconds
  return impersonatedToken(impersonated, tokenOf(text), lifetimeS)
}

/** A token of a service account that the owner of `by` may use. */
export async function impersonatedToken(url: string, by: Token, lifetimeS = LIFETIME_S): Promise<Token> {
  const text = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${by.value}` },
    body: JSON.stringify({ scope: [SCOPE], lifetime: `${lifetimeS}s` }),
  })
  const answer = parsedJson(text)
  const value = textOf(property(answer, 'accessToken'))
  const expiresAtMs = Date.parse(textOf(property(answer, 'expireTime')) ?? '')
  if (!value || Number.isNaN(expiresAtMs)) throw refused(`${new URL(url).host} sends no accessToken`)
  return { value, expiresAtMs }
}

/** A token of the account of the machine of Google's cloud that this program runs on. */
export async function metadataToken(host: string): Promise<Token> {
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token?scopes=${encodeURIComponent(SCOPE)}`
  return tokenOf(await request(url, { headers: { 'metadata-flavor': 'Google' } }))
}
