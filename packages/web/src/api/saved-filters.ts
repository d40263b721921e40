import { queryOptions } from '@tanstack/react-query'
import { answer, api, type Schemas } from './client.ts'

export type SavedFilter = Schemas['SavedFilter']

export const savedFiltersQuery = (screen: string) =>
  queryOptions({
    queryKey: ['saved-filters', screen],
    queryFn: async () => (await answer(api.GET('/saved-filters', { params: { query: { screen } } }))).data,
  })

export const saveFilter = (body: { screen: string; name: string; query: string; shared: boolean }) =>
  answer(api.POST('/saved-filters', { body }))

export const deleteSavedFilter = (id: number) =>
  answer(api.DELETE('/saved-filters/{id}', { params: { path: { id: String(id) } } }))
