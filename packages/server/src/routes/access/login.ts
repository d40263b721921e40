import { closed } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { bearerToken } from '../../access/authenticator.ts'
import { json } from '../../http/answer.ts'
import { route } from '../../http/route.ts'

export const login = route(
  {
    endpoint: 'POST /login',
    summary: 'Log in with user name and password',
    description: 'Send the token as `Authorization: Bearer`, like an API token, until it expires.',
    role: 'public',
    bare: true,
    bodyBytes: 4 * 1024,
    body: closed({
      username: Type.String({ minLength: 1, maxLength: 128 }),
      password: Type.String({ minLength: 1, maxLength: 256 }),
    }),
    responses: { 200: Type.Object({ token: Type.String() }) },
    errors: ['unauthorized', 'too_many_requests'],
  },
  async ({ logins }, { body, http }) => ({ token: await logins.login({ ...body, ip: http.ip }) }),
)

/** Browsers that used the Osmedeus dashboard at this address may still have this cookie. */
const CLEARED_COOKIE = 'osmedeus_session=; Path=/; Max-Age=0; SameSite=Lax'

export const logout = route(
  {
    endpoint: 'POST /logout',
    summary: 'Log out: make a login token invalid',
    description:
      'The token of `POST /login` in the header `Authorization` stops working immediately on the master that handles the request, and within 2 seconds on all others. An API token stays valid: `DELETE /tokens/{id}` removes it. Also deletes the cookie `osmedeus_session` of a browser.',
    role: 'public',
    responses: { 200: Type.Object({ message: Type.String() }) },
  },
  async ({ access, logins }, { http }) => {
    const token = bearerToken(http.headers)
    if (token !== undefined && (await logins.logout(token))) access.invalidate()
    return json(200, { message: 'Logged out' }, { 'Set-Cookie': CLEARED_COOKIE })
  },
)
