import { Type } from 'typebox'
import { json } from '../../http/answer.ts'
import { route } from '../../http/route.ts'

export const login = route(
  {
    method: 'post',
    path: '/login',
    tag: 'Access',
    summary: 'Log in with user name and password',
    description: 'Send the token as `Authorization: Bearer`, like an API token, until it expires.',
    role: 'public',
    bare: true,
    bodyBytes: 4 * 1024,
    body: Type.Object(
      {
        username: Type.String({ minLength: 1, maxLength: 128 }),
        password: Type.String({ minLength: 1, maxLength: 256 }),
      },
      { additionalProperties: false },
    ),
    responses: { 200: Type.Object({ token: Type.String() }) },
    errors: ['invalid_input', 'unauthorized', 'too_many_requests'],
  },
  async ({ logins }, { body, http }) => ({ token: await logins.login({ ...body, ip: http.ip }) }),
)

/**
 * Browsers that used the Osmedeus dashboard at this address may still have this cookie. This server sets no cookies.
 */
const CLEARED_COOKIE = 'osmedeus_session=; Path=/; Max-Age=0; SameSite=Lax'

export const logout = route(
  {
    method: 'post',
    path: '/logout',
    tag: 'Access',
    summary: 'Delete the login cookie of the browser',
    description:
      'Deletes the cookie `osmedeus_session`. The client keeps the login token and must discard it; the token is valid until it expires or the password of its user changes.',
    role: 'public',
    responses: { 200: Type.Object({ message: Type.String() }) },
  },
  async () =>
    json(
      200,
      { message: 'Logged out; discard the token: it is valid until it expires' },
      { 'Set-Cookie': CLEARED_COOKIE },
    ),
)
