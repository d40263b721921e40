import { Type } from 'typebox'
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
