import { api, type Schemas } from './client.ts'
import { dataQuery } from './list.ts'

export type SavedFilter = Schemas['SavedFilter']

export const savedFiltersQuery = (screen: string) =>
  dataQuery(['saved-filters', screen], () => api.GET('/saved-filters', { params: { query: { screen } } }))
