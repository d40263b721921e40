import { AppError, closed, page, Role, User, wrapped } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { hashPassword } from '../../access/password.ts'
import { route } from '../../http/route.ts'
import { rowId } from '../query.ts'
import { pageBody, pageQuery, pageRequest } from '../paging.ts'

const Password = Type.String({ minLength: 8, maxLength: 256 })
const noUser = (id: string): AppError => new AppError('not_found', `there is no user ${JSON.stringify(id)}`)

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
  {
    endpoint: 'GET /users',
    summary: 'List the users',
    role: 'admin',
    query: closed(pageQuery),
    responses: { 200: page(User) },
  },
  async ({ store }, { query }) => {
    const request = pageRequest(query)
    return pageBody(await store.access.users(request), request)
  },
)

export const getUser = route(
  {
    endpoint: 'GET /users/{id}',
    summary: 'Read one user',
    role: 'admin',
    responses: { 200: wrapped(User) },
  },
  async ({ store }, { params }) => {
    const id = rowId(params.id)
    const data = id === undefined ? undefined : await store.access.userById(id)
    if (data === undefined) throw noUser(params.id)
    return { data }
  },
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
  async ({ store, access }, { params, body }) => {
    const id = rowId(params.id)
    const { role, password } = body
    const passwordHash = password === undefined ? undefined : await hashPassword(password)
    const data = id === undefined ? undefined : await store.access.setUser(id, { role, passwordHash })
    if (data === undefined) throw noUser(params.id)
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
    if (id === undefined || !(await store.access.removeUser(id))) throw noUser(params.id)
    access.invalidate()
    return { message: 'User removed', id }
  },
)
