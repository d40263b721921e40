import { AppError, closed, Role, User, wrapped } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { hashPassword } from '../../access/password.ts'
import { pages } from '../../http/paging.ts'
import { found, missing } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { rowId } from '../query.ts'

const Password = Type.String({ minLength: 8, maxLength: 256 })

export const createUser = route(
  {
    endpoint: 'POST /users',
    summary: 'Create a user',
    role: 'admin',
    body: closed({
      username: Type.String({ pattern: '^[A-Za-z0-9._@-]{1,128}$' }),
      password: Password,
      role: Role,
    }),
    responses: { 201: Type.Object({ message: Type.String(), data: User }) },
    errors: ['conflict'],
  },
  async ({ store }, { body }) => {
    const { username, role, password } = body
    const data = await store.access.addUser({ username, role, passwordHash: await hashPassword(password) })
    if (data === undefined) throw new AppError('conflict', `a user named ${username} already exists`)
    return { message: 'User created', data }
  },
)

export const listUsers = route(
  { endpoint: 'GET /users', summary: 'List the users', role: 'admin', ...pages(User, {}) },
  ({ store }, { page }) => store.access.users(page),
)

export const getUser = route(
  {
    endpoint: 'GET /users/{id}',
    summary: 'Read one user',
    role: 'admin',
    responses: { 200: wrapped(User) },
  },
  async ({ store }, { params: { id } }) => ({
    data: found('user', id, await store.access.userById(rowId(id))),
  }),
)

export const changeUser = route(
  {
    endpoint: 'PATCH /users/{id}',
    summary: 'Change the role or the password of a user',
    description:
      'Logins with the old password stop working immediately on the master that handles the request, and soon on all others.',
    role: 'admin',
    body: closed({ role: Type.Optional(Role), password: Type.Optional(Password) }, { minProperties: 1 }),
    responses: { 200: Type.Object({ message: Type.String(), data: User }) },
  },
  async ({ store, access }, { params: { id }, body: { role, password } }) => {
    const passwordHash = password === undefined ? undefined : await hashPassword(password)
    const data = found('user', id, await store.access.setUser(rowId(id), { role, passwordHash }))
    access.invalidate()
    return { message: 'User changed', data }
  },
)

export const removeUser = route(
  {
    endpoint: 'DELETE /users/{id}',
    summary: 'Remove a user',
    description:
      'Logins of the user stop working immediately on the master that handles the request, and soon on all others.',
    role: 'admin',
    responses: { 200: Type.Object({ message: Type.String(), id: Type.Integer() }) },
  },
  async ({ store, access }, { params }) => {
    const id = rowId(params.id)
    if (!(await store.access.removeUser(id))) throw missing('user', params.id)
    access.invalidate()
    return { message: 'User removed', id }
  },
)
