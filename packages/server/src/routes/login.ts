import { Type } from 'typebox'
import { json } from '../http/answer.ts'
import { route } from '../http/route.ts'

export const login = route(
  {
    method: 'post',
    path: '/login',
    tag: 'Access',
    summary: 'Log in with user name and password',
    description: 'The token goes into `Authorization: Bearer`, as an API token does, until its time is over.',
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

/** Browsers that used the dashboard of Osmedeus at this address still have it. This server sets no cookies. */
const CLEARED_COOKIE = 'osmedeus_session=; Path=/; Max-Age=0; SameSite=Lax'

export const logout = route(
  {
    method: 'post',
    path: '/logout',
    tag: 'Access',
    summary: 'Tell the browser to forget the login',
    description:
      'Deletes the cookie `osmedeus_session`. The login token itself is kept by the client, which has to forget it; it is good until its time is over, or until the password of its user is changed.',
    role: 'public',
    responses: { 200: Type.Object({ message: Type.String() }) },
  },
  async () =>
    json(
      200,
      { message: 'Logged out; forget the token: it is good until its time is over' },
      { 'Set-Cookie': CLEARED_COOKIE },
    ),
)
