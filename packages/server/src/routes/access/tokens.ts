import { closed, ApiToken, Role } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { newToken, tokenHash } from '../../access/api-token.ts'
import { refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { idOf, NamedPath } from '../named.ts'
import { pages } from '../../http/paging.ts'

const NewToken = closed({
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
  role: Role,
  expires_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'Missing: the token never expires' }),
  ),
})

export const createToken = route(
  {
    endpoint: 'POST /tokens',
    summary: 'Create an API token',
    description: 'The token is returned only in this answer: only its hash is stored.',
    role: 'admin',
    body: NewToken,
    responses: {
      201: Type.Object({ message: Type.String(), token: Type.String(), data: ApiToken }),
    },
  },
  async ({ store }, { body }) => {
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
    if (expiresAt !== null && !(expiresAt.getTime() > Date.now()))
      refuse([{ path: '/expires_at', message: 'must be in the future' }])
    const token = newToken()
    const data = await store.access.addToken({
      name: body.name,
      role: body.role,
      hash: tokenHash(token),
      expiresAt,
    })
    return { message: 'Token created; store it now, because it is not shown again', token, data }
  },
)

export const listTokens = route(
  {
    endpoint: 'GET /tokens',
    summary: 'List the API tokens, without the tokens themselves',
    role: 'admin',
    ...pages(ApiToken, {}),
  },
  ({ store }, { page }) => store.access.tokens(page),
)

export const removeToken = route(
  {
    endpoint: 'DELETE /tokens/{id}',
    summary: 'Delete an API token',
    description:
      'The token stops working immediately on the master that handles the request, and within 2 seconds on all others.',
    role: 'admin',
    params: NamedPath,
    responses: { 200: Type.Object({ message: Type.String(), id: Type.Integer() }) },
    errors: ['conflict'],
  },
  async (context, { params }) => {
    const id = Number(await idOf(context, 'token', params.id))
    await context.store.access.removeToken(id)
    context.access.invalidate()
    return { message: 'Token removed', id }
  },
)
