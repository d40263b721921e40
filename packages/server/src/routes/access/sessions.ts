import { AppError, closed, OwnSession, Role, wrapped } from '@scanfarm/contracts'
import { Type, type Static } from 'typebox'
import type { Caller } from '../../access/authenticator.ts'
import {
  clearedCookie,
  refuseOtherOrigins,
  sessionCookie,
  sessionSecretOf,
} from '../../access/session-cookie.ts'
import type { Proof } from '../../access/session-service.ts'
import { json } from '../../http/answer.ts'
import { route } from '../../http/route.ts'

const Session = Type.Object({
  kind: Type.Enum(['user', 'token']),
  name: Type.String({ description: 'Name of the user or of the API token' }),
  role: Role,
  expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When the login ends; null for an API token that was sent in a header',
  }),
})

const Proofs = closed({
  username: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  token: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'An API token' })),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'The code of a login link' })),
})

const proofOf = ({ username, password, token, code }: Static<typeof Proofs>): Proof => {
  const given = [username ?? password, token, code].filter((one) => one !== undefined)
  if (given.length === 1) {
    if (token !== undefined) return { token }
    if (code !== undefined) return { code }
    if (username !== undefined && password !== undefined) return { username, password }
  }
  throw new AppError('invalid_input', 'send username and password, or token, or code')
}

export const createSession = route(
  {
    endpoint: 'POST /session',
    summary: 'Log a browser in',
    description:
      'Sets the cookie `scanfarm_session`, which identifies the caller of later requests. Requests with this cookie that change something need the header `X-Scanfarm-Console: 1`. Send user name and password, an API token, or the code of a login link. Failed logins are limited by address.',
    role: 'public',
    bodyBytes: 4 * 1024,
    body: Proofs,
    responses: { 200: Session },
    errors: ['unauthorized', 'forbidden', 'too_many_requests'],
  },
  async ({ sessions }, { body, http }) => {
    refuseOtherOrigins(http)
    const { secret, session } = await sessions.open(proofOf(body), http.ip)
    const old = sessionSecretOf(http.headers)
    if (old !== undefined) await sessions.close(old)
    return json(200, shown(session), { 'Set-Cookie': sessionCookie(secret, session.expiresAt, http.secure) })
  },
)

const shown = ({ kind, name, role, expiresAt }: Omit<Caller, 'id'>) => ({
  kind,
  name,
  role,
  expires_at: expiresAt ?? null,
})

export const readSession = route(
  {
    endpoint: 'GET /session',
    summary: 'Read who the caller is',
    description: 'For the login of a browser, and for a token in a header.',
    role: 'viewer',
    responses: { 200: Session },
  },
  async (_context, { caller }) => json(200, shown(caller)),
)

export const endSession = route(
  {
    endpoint: 'DELETE /session',
    summary: 'Log a browser out',
    description:
      'Ends the session of the cookie and deletes the cookie. The session ends immediately on the master that handles the request, and within 2 seconds on all others.',
    role: 'viewer',
    responses: { 200: Type.Object({ message: Type.String() }) },
  },
  async ({ sessions, access }, { http }) => {
    const secret = sessionSecretOf(http.headers)
    if (secret !== undefined) await sessions.close(secret)
    access.invalidate()
    return json(200, { message: 'Logged out' }, { 'Set-Cookie': clearedCookie(http.secure) })
  },
)

export const listSessions = route(
  {
    endpoint: 'GET /sessions',
    summary: 'List the logins of browsers as the caller',
    description: 'At most 100, the last used first. Logins of other users and tokens are not shown.',
    role: 'viewer',
    responses: { 200: wrapped(Type.Array(OwnSession)) },
  },
  async ({ sessions }, { caller, http }) => ({
    data: await sessions.list(caller, sessionSecretOf(http.headers)),
  }),
)

export const endOwnSession = route(
  {
    endpoint: 'DELETE /sessions/{id}',
    summary: 'End a login of a browser as the caller',
    description:
      'It ends immediately on the master that handles the request, and within 2 seconds on all others.',
    role: 'viewer',
    responses: { 200: Type.Object({ message: Type.String(), id: Type.String() }) },
  },
  async ({ sessions, access }, { params: { id }, caller }) => {
    if (!(await sessions.end(caller, id)))
      throw new AppError('not_found', `you have no login ${JSON.stringify(id)}: list them with GET /sessions`)
    access.invalidate()
    return { message: 'Logged out', id }
  },
)

export const createSessionLink = route(
  {
    endpoint: 'POST /session/links',
    summary: 'Create a link that logs a browser in once',
    description:
      'The link opens the console and logs in as the caller. It works once, within 10 minutes. Its code is in the fragment of the URL, which browsers do not send to servers.',
    role: 'viewer',
    responses: {
      201: Type.Object({ url: Type.String(), expires_at: Type.String({ format: 'date-time' }) }),
    },
    errors: ['bad_request'],
  },
  async ({ sessions }, { caller, http }) => {
    if (!URL.canParse(http.origin)) throw new AppError('bad_request', 'the header Host is not a valid host')
    const { code, expiresAt } = await sessions.addCode(caller)
    return { url: `${new URL(http.origin).origin}/login#code=${code}`, expires_at: expiresAt }
  },
)
