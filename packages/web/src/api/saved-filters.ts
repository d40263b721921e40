import { answer, api, byId, type Schemas } from './client.ts'
import { dataQuery } from './list.ts'

export type SavedFilter = Schemas['SavedFilter']

export const savedFiltersQuery = (screen: string) =>
  dataQuery(['saved-filters', screen], () => api.GET('/saved-filters', { params: { query: { screen } } }))

export const saveFilter = (body: { screen: string; name: string; query: string; shared: boolean }) =>
  answer(api.POST('/saved-filters', { body }))
export const deleteSavedFilter = (id: number) => answer(api.DELETE('/saved-filters/{id}', byId(id)))
