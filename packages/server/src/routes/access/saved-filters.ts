import { AppError, closed, roleAllows, SavedFilter, wrapped } from '@scanfarm/contracts'
import { MAX_SAVED_FILTERS } from '@scanfarm/store'
import { Type } from 'typebox'
import type { Caller } from '../../access/authenticator.ts'
import { route } from '../../http/route.ts'
import { rowId } from '../query.ts'

const MAX_QUERY = 4_096
const Screen = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,63}$',
  description: 'The list that it filters, for example findings',
})

const ownerOf = ({ kind, id }: Caller): string => `${kind}:${id}`

export const listSavedFilters = route(
  {
    endpoint: 'GET /saved-filters',
    summary: 'List the saved filters of the caller, and those that others share',
    role: 'viewer',
    query: closed({ screen: Type.Optional(Screen) }),
    responses: { 200: wrapped(Type.Array(SavedFilter)) },
  },
  async ({ store }, { query, caller }) => ({
    data: await store.savedFilters.list(ownerOf(caller), query.screen),
  }),
)

export const saveFilter = route(
  {
    endpoint: 'POST /saved-filters',
    summary: 'Save a filter of a list, or replace the one of the caller with the same screen and name',
    description: `A user or token has at most ${MAX_SAVED_FILTERS}. Sharing one requires the role operator.`,
    role: 'viewer',
    body: closed({
      screen: Screen,
      name: Type.String({ minLength: 1, maxLength: 128, pattern: '\\S' }),
      query: Type.String({ maxLength: MAX_QUERY, description: 'Query string of the list, without ?' }),
      shared: Type.Optional(SavedFilter.properties.shared),
    }),
    responses: { 201: wrapped(SavedFilter) },
    errors: ['forbidden', 'conflict'],
  },
  async ({ store }, { body: { shared = false, ...body }, caller }) => {
    if (shared && !roleAllows(caller.role ?? 'viewer', 'operator'))
      throw new AppError('forbidden', 'sharing a filter requires the role operator: send shared as false')
    const owner = { owner: ownerOf(caller), ownerName: caller.name }
    const data = await store.savedFilters.put(owner, { ...body, shared })
    if (data === undefined)
      throw new AppError('conflict', `you already have ${MAX_SAVED_FILTERS} saved filters: delete one first`)
    return { data }
  },
)

export const removeSavedFilter = route(
  {
    endpoint: 'DELETE /saved-filters/{id}',
    summary: 'Delete a saved filter of the caller; administrators can also delete shared ones',
    role: 'viewer',
    responses: { 200: Type.Object({ message: Type.String(), id: Type.Integer() }) },
  },
  async ({ store }, { params, caller }) => {
    const id = rowId(params.id)
    const isAdmin = caller.role === 'admin'
    if (!(await store.savedFilters.remove(id, ownerOf(caller), isAdmin)))
      throw new AppError('not_found', `you have no saved filter ${JSON.stringify(params.id)}`)
    return { message: 'Filter removed', id }
  },
)
